import type { TLSSocket } from 'node:tls';

import type { GatewayTimeouts } from '../../../engine.ts';
import type { IdleWatch, Watched } from '../../idle-watch.ts';
import type { ClientConnection, Exchange } from '../exchange.ts';
import type { Http1Server } from '../h1-server.ts';
import { DirectExchange } from './fast-exchange.ts';
import { readPlainHead } from './plain-head.ts';

/** What connections share. */
interface Surroundings {
  readonly general: Http1Server;
  readonly watch: IdleWatch;
  readonly timeouts: GatewayTimeouts;
  readonly keepAlive: string;
  readonly handle: (exchange: Exchange) => void;
}

/**
 * Speaks HTTP/1.1 on connections whose requests are plain, at half the cost of Node's server. With the first request
 * that is not, a connection goes over to that server, and stays there. Both make exchanges of requests, which are decided
 * on and carried out alike.
 */
export class DirectHttp1 {
  readonly #surroundings: Surroundings;
  readonly #connections = new Set<DirectConnection>();

  constructor(general: Http1Server, watch: IdleWatch, timeouts: GatewayTimeouts, handle: (exchange: Exchange) => void) {
    const seconds = Math.floor(timeouts.keepAliveMs / 1000);
    const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
    this.#surroundings = { general, watch, timeouts, keepAlive, handle };
  }

  accept(socket: TLSSocket, client: ClientConnection): void {
    const connection = new DirectConnection(socket, client, this.#surroundings, () => {
      this.#connections.delete(connection);
    });
    this.#connections.add(connection);
  }

  closeIdle(): void {
    for (const connection of this.#connections) connection.closeIfIdle();
  }
}

class DirectConnection implements Watched {
  lastMove = 0;
  limitMs: number;
  readonly #socket: TLSSocket;
  readonly #client: ClientConnection;
  readonly #surroundings: Surroundings;
  readonly #gone: () => void;
  #exchange: DirectExchange | undefined;
  #served = false;
  /** What came while an exchange was under way. */
  #early: Buffer[] = [];

  constructor(socket: TLSSocket, client: ClientConnection, surroundings: Surroundings, gone: () => void) {
    this.#socket = socket;
    this.#client = client;
    this.#surroundings = surroundings;
    this.#gone = gone;
    this.limitMs = surroundings.timeouts.headersMs;
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('error', this.#onError).on('close', this.#onClose);
    surroundings.watch.add(this);
  }

  closeIfIdle(): void {
    if (this.#served && this.#exchange === undefined) this.#socket.destroySoon();
  }

  /** Nothing was asked in time: the first time that is a fault, later it is the end. */
  onIdle(): void {
    if (this.#served) this.#socket.destroySoon();
    else this.#leave((socket) => this.#surroundings.general.refuseLate(socket));
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
    const { keepAlive, handle } = this.#surroundings;
    // The exchange has limits of its own.
    this.limitMs = Infinity;
    this.#served = true;
    this.#exchange = new DirectExchange(this.#socket, this.#client, head, keepAlive, this.#onDone);
    handle(this.#exchange);
  };

  readonly #onDone = (usable: boolean): void => {
    this.#exchange = undefined;
    if (!usable) return;
    if (this.#early.length > 0) {
      this.#handOver();
      return;
    }
    const { watch, timeouts } = this.#surroundings;
    this.limitMs = timeouts.keepAliveMs;
    this.lastMove = watch.now;
  };

  readonly #onDrain = (): void => {
    this.#exchange?.drained();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#surroundings.watch.delete(this);
    this.#gone();
    this.#exchange?.closed();
  };

  #handOver(): void {
    const early = this.#early;
    this.#early = [];
    this.#leave((socket) => {
      for (const chunk of early.toReversed()) socket.unshift(chunk);
      this.#surroundings.general.accept(socket, this.#client);
      socket.resume();
    });
  }

  /** The socket is somebody else's from now on. */
  #leave(take: (socket: TLSSocket) => void): void {
    const socket = this.#socket;
    socket
      .off('data', this.#onData)
      .off('drain', this.#onDrain)
      .off('error', this.#onError)
      .off('close', this.#onClose);
    this.#surroundings.watch.delete(this);
    this.#gone();
    take(socket);
  }
}
