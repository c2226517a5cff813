import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, TLSSocket } from 'node:tls';
import type { SecureContext, Server } from 'node:tls';

import { HandshakeGate, openGate, socketBelow } from '../../lib/handshake-gate.ts';
import { tlsCiphers } from '../../lib/tls-ciphers.ts';
import type { HandshakeFault } from '../engine.ts';
import { parseAuthority } from '../https/authority.ts';
import { NoCertificate } from '../https/client/certificate-source.ts';
import type { IdleConnection } from '../https/client/idle-connection.ts';
import { fatalAlert, plainHttpAnswer } from './handshake-answers.ts';

export interface HandshakeOptions {
  /** `name` is in lower case. Rejecting ends the handshake. */
  readonly contextFor: (name: string) => Promise<SecureContext>;
  readonly limitMs: number;
  /** Protocols to choose from above TLS; none are agreed on if it is left out. */
  readonly alpn?: readonly string[];
  /** As in `GatewayOptions`. */
  readonly ticketKeys?: Uint8Array | undefined;
  /** True: clients are asked for a certificate. The contexts must hold the authorities, and `ready` must check it. */
  readonly asksForCertificate?: boolean;
  /** True: clients must speak TLS 1.3. Contexts cannot ask for that: they are chosen when the version is agreed on. */
  readonly needsTls13?: boolean;
  /** True: clients must speak TLS 1.2. */
  readonly needsTls12?: boolean;
}

export interface HandshakeOutcome {
  /** Called with the server name of the handshake, in lower case. */
  readonly ready: (secure: TLSSocket, servername: string) => void;
  /** Called with the server name as the client sent it, if it did; the connection is closed. */
  readonly failed?: (reason: HandshakeFault, name: string) => void;
}

type ContextCallback = (error: Error | null, context?: SecureContext) => void;

interface Handshake {
  readonly startedAt: number;
  readonly outcome: HandshakeOutcome;
  readonly asked: string | undefined;
  readonly timer: NodeJS.Timeout;
  /** The server name that the client asked for. */
  name?: string;
  /** Why it was refused. */
  fault?: HandshakeFault;
}

/** Performs the TLS handshake on accepted sockets. */
export class TlsHandshakes {
  readonly #server: Server;
  /** Handshakes under way, by the socket below TLS. */
  readonly #pending = new Map<Socket, Handshake>();
  readonly #options: HandshakeOptions;

  constructor(options: HandshakeOptions) {
    const { alpn, asksForCertificate = false, needsTls13 = false, needsTls12 = false, ticketKeys } = options;
    this.#options = options;
    const chooseContext = (socket: TLSSocket, name: string, done: ContextCallback) => {
      void this.#chooseContext(socket, name, done);
    };
    // Without a certificate of its own: a client that names no server gets no connection.
    this.#server = createServer({
      ...(alpn && { ALPNProtocols: [...alpn] }),
      ...(ticketKeys && { ticketKeys: Buffer.from(ticketKeys) }),
      minVersion: needsTls13 ? 'TLSv1.3' : 'TLSv1.2',
      maxVersion: needsTls12 ? 'TLSv1.2' : 'TLSv1.3',
      ciphers: tlsCiphers,
      requestCert: asksForCertificate,
      // A client whose certificate is refused is told why, by whoever checks it.
      rejectUnauthorized: false,
      // A resumed session would bring along the certificate of an earlier handshake, by the rules of that time and name.
      ...(asksForCertificate && { secureOptions: constants.SSL_OP_NO_TICKET }),
      // Node calls it as a method of the socket, which its types do not say.
      SNICallback(this: unknown, name, done) {
        if (this instanceof TLSSocket) chooseContext(this, name, done);
        else done(new Error('no socket'));
      },
    });
    this.#server.on('secureConnection', (socket) => {
      this.#onSecure(socket);
    });
    this.#server.on('tlsClientError', (error, socket) => {
      this.#onFailure(error, socket);
    });
  }

  /**
   * `asked` is the server name in the client's first message, in lower case: OpenSSL does not know it where a session of
   * TLS 1.2 is resumed, and without it such a connection is closed.
   */
  accept(socket: Socket, outcome: HandshakeOutcome, asked?: string): void {
    // Node's own limit starts anew with each byte, so that a client could hold a handshake open for ever.
    const timer = setTimeout(() => socket.destroy(), this.#options.limitMs);
    this.#pending.set(socket, { startedAt: performance.now(), outcome, asked, timer });
    socket.on('close', () => {
      clearTimeout(timer);
      this.#pending.delete(socket);
    });
    // Only where certificates are asked for does a client decide how much work a handshake is.
    this.#server.emit('connection', this.#options.asksForCertificate === true ? new HandshakeGate(socket) : socket);
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const [socket, { startedAt }] of this.#pending) {
      yield { idleSince: startedAt, close: () => socket.destroy() };
    }
  }

  async #chooseContext(socket: TLSSocket, given: string, done: ContextCallback): Promise<void> {
    // Without it the connection is closed.
    const below = socketBelow(socket);
    const handshake = below && this.#pending.get(below);
    if (handshake !== undefined) handshake.name = given;
    try {
      const authority = parseAuthority(given);
      if (authority === undefined || authority.port !== undefined) throw new NoCertificate('not a server name');
      done(null, await this.#options.contextFor(authority.name));
    } catch (error) {
      const fault: HandshakeFault = error instanceof NoCertificate ? error.fault : 'no_leaf';
      if (handshake !== undefined) handshake.fault = fault;
      const end = () => {
        done(error instanceof Error ? error : new Error(String(error)));
      };
      // Node ends a refused handshake without a word. Nothing is encrypted yet: the alert is written below TLS.
      if (below === undefined) end();
      else below.end(fatalAlert(fault === 'no_leaf' ? 'internal_error' : 'unrecognized_name'), end);
    }
  }

  #onFailure(error: Error, socket: TLSSocket): void {
    const below = socketBelow(socket);
    const handshake = below && this.#pending.get(below);
    const isHttp = 'code' in error && error.code === 'ERR_SSL_HTTP_REQUEST';
    if (handshake !== undefined) {
      const { outcome, name = '', fault = isHttp ? 'plain_http' : faultOf(error, handshake.name) } = handshake;
      outcome.failed?.(fault, name);
    }
    if (isHttp && below !== undefined) below.end(plainHttpAnswer, () => socket.destroy());
    else socket.destroy();
  }

  #onSecure(socket: TLSSocket): void {
    const below = socketBelow(socket);
    const handshake = below && this.#pending.get(below);
    if (below !== undefined) this.#pending.delete(below);
    openGate(socket);
    clearTimeout(handshake?.timer);
    // Without a server name it is `false`, whatever the types say.
    const given: string | false = socket.servername || false;
    const isResumed = socket.isSessionReused();
    const servername = given === false && isResumed ? handshake?.asked : parseAuthority(given || '')?.name;
    const isRefused = isResumed && this.#options.asksForCertificate === true;
    if (handshake === undefined || servername === undefined || isRefused) socket.destroy();
    else handshake.outcome.ready(socket, servername);
  }
}

/** Without a server name there is no certificate to choose from, which OpenSSL says by one of these. */
function faultOf(error: Error, name: string | undefined): HandshakeFault {
  const code = 'code' in error ? String(error.code) : '';
  return name === undefined && /NO_SUITABLE_SIGNATURE_ALGORITHM|NO_SHARED_CIPHER/.test(code) ? 'no_name' : 'client';
}
