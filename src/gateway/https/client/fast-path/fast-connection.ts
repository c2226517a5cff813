import type { TLSSocket } from 'node:tls';

import type { GatewayTimeouts } from '../../../engine.ts';
import type { ClientConnection, Exchange } from '../../exchange.ts';
import type { IdleWatch, IdleTimeout } from '../../idle-watch.ts';
import type { Http1Server } from '../h1-server.ts';
import type { IdleConnection } from '../idle-connection.ts';
import { FastExchange } from './fast-exchange.ts';
import { readPlainHead } from './plain-head.ts';

/** The same for all connections. */
interface SharedOptions {
  readonly slowPath: Http1Server;
  readonly watch: IdleWatch;
  readonly timeouts: GatewayTimeouts;
  /** Header lines that tell a client how long its connection is kept, as Node's own server writes them. */
  readonly keepAlive: string;
  readonly handle: (exchange: Exchange) => void;
}

/** Speaks HTTP/1.1 on connections as long as their requests are plain, then hands them to the slow path: see README.md. */
export class FastHttp1 {
  readonly #shared: SharedOptions;
  readonly #connections = new Set<FastConnection>();

  constructor(
    slowPath: Http1Server,
    watch: IdleWatch,
    timeouts: GatewayTimeouts,
    handle: (exchange: Exchange) => void,
  ) {
    const seconds = Math.floor(timeouts.keepAliveMs / 1000);
    const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
    this.#shared = { slowPath, watch, timeouts, keepAlive, handle };
  }

  accept(socket: TLSSocket, client: ClientConnection): void {
    const connection = new FastConnection(socket, client, this.#shared, () => {
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

class FastConnection implements IdleTimeout {
  lastActivity = 0;
  limitMs: number;
  readonly #socket: TLSSocket;
  readonly #client: ClientConnection;
  readonly #shared: SharedOptions;
  readonly #gone: () => void;
  #exchange: FastExchange | undefined;
  #served = false;
  /** Bytes that came before the exchange under way was over. */
  #early: Buffer[] = [];

  constructor(socket: TLSSocket, client: ClientConnection, shared: SharedOptions, gone: () => void) {
    this.#socket = socket;
    this.#client = client;
    this.#shared = shared;
    this.#gone = gone;
    this.limitMs = shared.timeouts.headersMs;
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('error', this.#onError).on('close', this.#onClose);
    shared.watch.add(this);
  }

  get isIdle(): boolean {
    return this.#exchange === undefined;
  }

  closeIfIdle(): void {
    if (this.#served && this.isIdle) this.close();
  }

  close(): void {
    this.#stopReading();
    this.#socket.destroySoon();
  }

  /** No request came in time: an error before the first one, later the usual end of a kept connection. */
  onIdle(): void {
    if (this.#served) this.close();
    else this.#leave((socket) => this.#shared.slowPath.refuseLate(socket));
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#exchange !== undefined) {
      this.#early.push(chunk);
      this.#socket.pause();
      return;
    }
    const head = readPlainHead(chunk);
    if (head === undefined) {
      this.#early.push(chunk);
      this.#handOver();
      return;
    }
    const { keepAlive, handle } = this.#shared;
    // The exchange has limits of its own.
    this.limitMs = Infinity;
    this.#served = true;
    this.#exchange = new FastExchange(this.#socket, this.#client, head, keepAlive, this.#onDone);
    handle(this.#exchange);
  };

  readonly #onDone = (usable: boolean): void => {
    this.#exchange = undefined;
    if (!usable) {
      this.#stopReading();
      return;
    }
    if (this.#early.length > 0) {
      this.#handOver();
      return;
    }
    const { watch, timeouts } = this.#shared;
    this.limitMs = timeouts.keepAliveMs;
    this.lastActivity = watch.now;
  };

  readonly #onDrain = (): void => {
    this.#exchange?.drained();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#shared.watch.delete(this);
    this.#gone();
    this.#exchange?.closed();
  };

  /** Discards what still comes: an answer may wait for a slow reader, but no further request may be carried out. */
  #stopReading(): void {
    this.#early = [];
    this.#socket.off('data', this.#onData).resume();
  }

  #handOver(): void {
    const early = this.#early;
    this.#early = [];
    this.#leave((socket) => {
      for (const chunk of early.toReversed()) socket.unshift(chunk);
      this.#shared.slowPath.accept(socket, this.#client);
      socket.resume();
    });
  }

  /** Gives the socket to another owner. */
  #leave(take: (socket: TLSSocket) => void): void {
    const socket = this.#socket;
    socket
      .off('data', this.#onData)
      .off('drain', this.#onDrain)
      .off('error', this.#onError)
      .off('close', this.#onClose);
    this.#shared.watch.delete(this);
    this.#gone();
    take(socket);
  }
}
