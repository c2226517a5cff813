import { Socket } from 'node:net';
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
  readonly startedAt: number;
  readonly client: ClientSource;
  readonly timer: NodeJS.Timeout;
}

/** Performs the TLS handshake on accepted sockets and hands them to the handler of the HTTP version that was agreed on. */
export class TlsAcceptor {
  readonly #server: Server;
  /** Handshakes under way, by the socket below TLS. */
  readonly #pending = new Map<Socket, Handshake>();
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
    // Node's own limit starts anew with each byte, so that a client could hold a handshake open for ever.
    const timer = setTimeout(() => socket.destroy(), this.#handshakeMs);
    this.#pending.set(socket, { startedAt: performance.now(), client, timer });
    socket.on('close', () => {
      clearTimeout(timer);
      this.#pending.delete(socket);
    });
    this.#server.emit('connection', socket);
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const [socket, { startedAt }] of this.#pending) {
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
    const below = socketBelow(socket);
    const handshake = below && this.#pending.get(below);
    if (below !== undefined) this.#pending.delete(below);
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

/** The socket that was given to the TLS server. Node has no public name for it; without it the connection is closed. */
function socketBelow(socket: TLSSocket): Socket | undefined {
  const below: unknown = Reflect.get(socket, '_parent');
  return below instanceof Socket ? below : undefined;
}
