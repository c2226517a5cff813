import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { SecureContext, Server, TLSSocket } from 'node:tls';

import type { ClientSource } from '../client-connection.ts';
import { parseAuthority } from './authority.ts';
import type { ClientConnection } from './exchange.ts';

interface Speaker {
  accept(socket: TLSSocket, client: ClientConnection): void;
}

/** Makes TLS connections of accepted sockets and hands them to the version of HTTP that was agreed on. */
export class TlsAcceptor {
  readonly #server: Server;
  /** Who is behind a connection whose handshake is under way, by its two ends. */
  readonly #clients = new Map<string, ClientSource>();
  readonly #contextFor: (name: string) => Promise<SecureContext>;
  readonly #h1: Speaker;
  readonly #h2: Speaker;

  constructor(
    contextFor: (name: string) => Promise<SecureContext>,
    handshakeMs: number,
    h1: Speaker,
    h2: Speaker,
  ) {
    this.#contextFor = contextFor;
    this.#h1 = h1;
    this.#h2 = h2;
    // No certificate of its own: a client that names no server gets none, and no connection.
    this.#server = createServer({
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: handshakeMs,
      SNICallback: (name, done) => {
        this.#chooseContext(name, done);
      },
    });
    this.#server.on('secureConnection', (socket) => {
      this.#onSecure(socket);
    });
    // The connection is closed already; what broke it is the client's affair.
    this.#server.on('tlsClientError', () => {});
  }

  accept(socket: Socket, client: ClientSource): void {
    const key = endsOf(socket);
    this.#clients.set(key, client);
    socket.on('close', () => {
      if (this.#clients.get(key) === client) this.#clients.delete(key);
    });
    this.#server.emit('connection', socket);
  }

  #chooseContext(name: string, done: (error: Error | null, context?: SecureContext) => void): void {
    const authority = parseAuthority(name);
    if (authority === undefined || authority.port !== undefined) {
      done(new Error('not a server name'));
      return;
    }
    this.#contextFor(authority.name).then(
      (context) => {
        done(null, context);
      },
      (error: unknown) => {
        done(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  #onSecure(socket: TLSSocket): void {
    const key = endsOf(socket);
    const client = this.#clients.get(key);
    this.#clients.delete(key);
    // Node's types leave out that it is false without a name, and the name of the callback may be spelt otherwise.
    const servername = parseAuthority(String(socket.servername || ''))?.name;
    if (client === undefined || servername === undefined) {
      socket.destroy();
      return;
    }
    const connection: ClientConnection = {
      peer: client.source,
      peerTrusted: client.peerTrusted,
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
