import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { SecureContext, Server, TLSSocket } from 'node:tls';

import { formatIp } from '../../../lib/ip/address.ts';
import type { ClientSource } from '../../identify-client.ts';
import { parseAuthority } from '../authority.ts';
import type { ClientConnection } from '../exchange.ts';
import type { IdleConnection } from './idle-connection.ts';

/** Speaks one version of HTTP on connections that are handed to it. */
interface ConnectionHandler {
  accept(socket: TLSSocket, client: ClientConnection): void;
}

type ContextCallback = (error: Error | null, context?: SecureContext) => void;

interface Handshake {
  readonly socket: Socket;
  readonly startedAt: number;
  readonly client: ClientSource;
  readonly timer: NodeJS.Timeout;
}

/** Performs the TLS handshake on accepted sockets and hands them to the handler of the HTTP version that was agreed on. */
export class TlsAcceptor {
  readonly #server: Server;
  /** Handshakes under way, by both ends of the connection: no public API leads from a TLS socket to the socket below it. */
  readonly #pending = new Map<string, Handshake>();
  readonly #handshakeMs: number;
  readonly #contextFor: (name: string) => Promise<SecureContext>;
  readonly #h1: ConnectionHandler;
  readonly #h2: ConnectionHandler;

  constructor(
    contextFor: (name: string) => Promise<SecureContext>,
    handshakeMs: number,
    h1: ConnectionHandler,
    h2: ConnectionHandler,
  ) {
    this.#contextFor = contextFor;
    this.#handshakeMs = handshakeMs;
    this.#h1 = h1;
    this.#h2 = h2;
    // Without a certificate of its own: a client that names no server gets no connection.
    this.#server = createServer({
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      SNICallback: (name, done) => {
        this.#chooseContext(name, done);
      },
    });
    this.#server.on('secureConnection', (socket) => {
      this.#onSecure(socket);
    });
    this.#server.on('tlsClientError', (_error, socket) => {
      socket.destroy();
    });
  }

  accept(socket: Socket, client: ClientSource): void {
    const key = endsOf(socket);
    // Node's own limit starts anew with each byte, so that a client could hold a handshake open for ever.
    const timer = setTimeout(() => socket.destroy(), this.#handshakeMs);
    const handshake = { socket, startedAt: performance.now(), client, timer };
    this.#pending.set(key, handshake);
    socket.on('close', () => {
      clearTimeout(timer);
      if (this.#pending.get(key) === handshake) this.#pending.delete(key);
    });
    this.#server.emit('connection', socket);
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const { socket, startedAt } of this.#pending.values()) {
      yield { idleSince: startedAt, close: () => socket.destroy() };
    }
  }

  #chooseContext(name: string, done: ContextCallback): void {
    const authority = parseAuthority(name);
    if (authority === undefined || authority.port !== undefined) {
      done(new Error('not a server name'));
      return;
    }
    void this.#answerWithContext(authority.name, done);
  }

  async #answerWithContext(name: string, done: ContextCallback): Promise<void> {
    let context: SecureContext;
    try {
      context = await this.#contextFor(name);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    done(null, context);
  }

  #onSecure(socket: TLSSocket): void {
    const key = endsOf(socket);
    const handshake = this.#pending.get(key);
    this.#pending.delete(key);
    clearTimeout(handshake?.timer);
    // Without a server name it is `false`, whatever the types say.
    const servername = parseAuthority(socket.servername || '')?.name;
    if (handshake === undefined || servername === undefined) {
      socket.destroy();
      return;
    }
    const connection: ClientConnection = {
      peer: handshake.client.source,
      peerText: formatIp(handshake.client.source),
      peerTrusted: handshake.client.peerTrusted,
      servername,
      localPort: socket.localPort ?? 0,
    };
    if (socket.alpnProtocol === 'h2') this.#h2.accept(socket, connection);
    else this.#h1.accept(socket, connection);
  }
}

/** Unique among the open connections of one process. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
