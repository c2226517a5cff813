import type { Socket } from 'node:net';

import type { ClientConnection } from '../../exchange.ts';
import type { IdleConnection } from '../idle-connection.ts';
import { Http1Connection } from './http1-connection.ts';
import type { Http1Options } from './http1-connection.ts';

/** Speaks HTTP/1.1 and HTTP/1.0 on connections that are handed to it. */
export class Http1Server {
  readonly #options: Http1Options;
  readonly #connections = new Set<Http1Connection>();

  constructor(options: Omit<Http1Options, 'keepAlive'>) {
    const seconds = Math.floor(options.timeouts.keepAliveMs / 1000);
    this.#options = { ...options, keepAlive: `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n` };
  }

  accept(socket: Socket, client: ClientConnection): void {
    const connection = new Http1Connection(socket, client, this.#options, () => {
      this.#connections.delete(connection);
    });
    this.#connections.add(connection);
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const connection of this.#connections) {
      if (connection.isIdle) yield { idleSince: connection.lastActivity, close: () => connection.close() };
    }
  }

  closeIdle(): void {
    for (const connection of this.#connections) connection.closeIfIdle();
  }
}
