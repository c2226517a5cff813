import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import type { HeartbeatTimes } from '../agents/mux/heartbeat.ts';
import { HandshakeGate, openGate, socketBelow } from '../lib/handshake-gate.ts';
import type { ListenAddress } from '../lib/host-port.ts';
import { LinkServer } from './link-server.ts';
import { linkProtocol, readLinkName } from './link-tls.ts';
import type { LinkCredentials } from './link-tls.ts';
import type { AnswerQuestion } from './question.ts';
import type { OpenStream } from './stream-request.ts';

export interface LinkListenerOptions {
  readonly listen: ListenAddress;
  readonly credentials: LinkCredentials;
  /** Opens streams through sessions of this process only: links must not form a circle. */
  readonly open: OpenStream;
  /** Takes messages of other processes. */
  readonly heard?: (message: unknown) => void;
  /** Answers questions of other processes. */
  readonly answer?: AnswerQuestion | undefined;
  /** Limit for the TLS handshake. */
  readonly handshakeMs: number;
  /** Connections at once whose handshake is not complete; further ones are closed. */
  readonly maxPending: number;
  readonly maxUnreadBytes: number;
  readonly heartbeat: HeartbeatTimes;
  readonly overrun: () => void;
  /** Called for each connection that is not let in. */
  readonly refused: () => void;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Shortest interval between two log lines about links that were refused: whoever reaches the port can cause them. */
const logMs = 60_000;

/** Accepts links of other processes of the installation, and of nobody else. */
export class LinkListener {
  readonly #options: LinkListenerOptions;
  readonly #server: Server;
  /** Connections in the handshake. */
  readonly #pending = new Set<Socket>();
  readonly #links = new Set<LinkServer>();
  #unlogged = 0;
  #loggedMs = -Infinity;

  /** Rejects if the address cannot be listened on. */
  static async open(options: LinkListenerOptions): Promise<LinkListener> {
    const listener = new LinkListener(options);
    listener.#server.listen({ ...options.listen, exclusive: true });
    await once(listener.#server, 'listening');
    listener.#server.on('error', (err) => {
      options.log.error({ err }, 'the listener of links has a fault');
    });
    return listener;
  }

  private constructor(options: LinkListenerOptions) {
    const { credentials } = options;
    this.#options = options;
    const tls = createTlsServer(
      {
        // The only certificates: a client that names no server gets none.
        SNICallback: (_name, done) => {
          credentials().then(
            (context) => {
              done(null, context);
            },
            (error: unknown) => {
              done(error instanceof Error ? error : new Error(String(error)));
            },
          );
        },
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: 'TLSv1.3',
        ALPNProtocols: [linkProtocol],
      },
      (socket) => {
        this.#accept(socket);
      },
    );
    // Without a listener a failed handshake would be thrown.
    tls.on('tlsClientError', (error, socket) => {
      this.#refuse(socket, error.message);
    });
    this.#server = createServer({ noDelay: true }, (socket) => {
      if (this.#arrive(socket)) tls.emit('connection', new HandshakeGate(socket));
    });
  }

  get port(): number {
    // The server listens on a port, so that it has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  get size(): number {
    return this.#links.size;
  }

  /** Accepts no more links; those that are open stay. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#pending) socket.destroy();
  }

  close(): void {
    this.stop();
    for (const link of this.#links) link.close('the process ends');
  }

  /** Node's own limit for a handshake starts anew with each byte. False: there are too many. */
  #arrive(socket: Socket): boolean {
    const { handshakeMs, maxPending } = this.#options;
    socket.on('error', ignore);
    if (this.#pending.size >= maxPending) {
      socket.destroy();
      return false;
    }
    this.#pending.add(socket);
    const timer = setTimeout(() => {
      if (this.#pending.has(socket)) socket.destroy();
    }, handshakeMs);
    socket.on('close', () => {
      clearTimeout(timer);
      this.#pending.delete(socket);
    });
    return true;
  }

  #accept(socket: TLSSocket): void {
    const { open, heard, answer, maxUnreadBytes, heartbeat, overrun, log } = this.#options;
    const below = socketBelow(socket);
    if (below !== undefined) this.#pending.delete(below);
    openGate(socket);
    const processId = socket.authorized ? readLinkName(socket.getPeerX509Certificate()?.subjectAltName) : undefined;
    if (processId === undefined || socket.alpnProtocol !== linkProtocol) {
      this.#refuse(socket, 'its certificate is not one for links');
      return;
    }
    const link = new LinkServer(socket, {
      maxUnreadBytes,
      heartbeat,
      overrun,
      open,
      heard,
      answer,
      closed: (reason) => {
        this.#links.delete(link);
        log.info({ process: processId, reason }, 'a link of another process is closed');
      },
    });
    this.#links.add(link);
    log.info({ process: processId, address: socket.remoteAddress }, 'a link of another process is open');
  }

  #refuse(socket: TLSSocket, reason: string): void {
    const remoteAddress = socketBelow(socket)?.remoteAddress;
    socket.on('error', ignore).destroy();
    this.#options.refused();
    this.#unlogged++;
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < logMs) return;
    const refused = this.#unlogged;
    this.#unlogged = 0;
    this.#loggedMs = nowMs;
    this.#options.log.warn(
      { address: remoteAddress, reason, refused },
      'a connection to the listener of links was refused',
    );
  }
}

function ignore(): void {}
