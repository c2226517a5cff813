import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { LaterTurns } from './later-turns.ts';
import { SlicedReader } from './sliced-reader.ts';

/** A fault that Node's parser has found, or a method that it does not hand on as a request. */
export type SocketFault = Error & { readonly code?: string };

/** Time in which the requests of one connection begin before others go on. */
const turnMs = 1;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Carries it out. */
  readonly begin: () => void;
}

interface Connection {
  readonly socket: Socket;
  readonly reader: SlicedReader;
  current: Exchange | undefined;
  readonly waiting: Exchange[];
  /** An answered exchange whose request body is still being received. */
  unread: Exchange | undefined;
  /** Ends the connection; set once bytes have come that are not HTTP. */
  end: (() => void) | undefined;
  /** A later turn will go on with it. */
  isLater: boolean;
  /** End of its turn, as `performance.now()` has it: until then its requests begin one behind another. */
  untilMs: number;
  /** Nothing is begun or read for a while. */
  isResting: boolean;
}

interface ConnectionTurnsOptions {
  /** No request of the connection is under way any more. */
  readonly idle: (socket: Socket) => void;
  /** Writes the answer to bytes that are not HTTP, and closes the connection. */
  readonly answer: (fault: SocketFault, socket: Socket) => void;
  /** Connections of one owner share their later turns. */
  readonly ownerOf: (socket: Socket) => string;
  /** Time for which a connection rests behind this request, in milliseconds. */
  readonly restAfter: (request: IncomingMessage) => number;
}

/**
 * Carries out the requests of one connection one after another, in the order in which they came. So every answer is that
 * of its own request, a request behind an answer that closes the connection is not carried out, and many requests sent at
 * once on one connection are no more than one call at a time. All but the first of those wait for a later turn of the event
 * loop, as does reading, so that a connection does not keep others waiting with what it has sent at once.
 */
export class ConnectionTurns {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #later = new LaterTurns();
  readonly #options: ConnectionTurnsOptions;

  constructor(options: ConnectionTurnsOptions) {
    this.#options = options;
  }

  /** For `connection`, behind Node's own listener. */
  readonly accept = (socket: Socket): void => {
    const reader = new SlicedReader(socket, {
      mayParse: () => connection.waiting.length === 0 && !connection.isResting,
      isUnread: () => isUnread(connection),
      later: () => this.#goOnLater(connection),
    });
    const connection: Connection = {
      socket,
      reader,
      current: undefined,
      waiting: [],
      unread: undefined,
      end: undefined,
      isLater: false,
      untilMs: 0,
      isResting: false,
    };
    this.#connections.set(socket, connection);
  };

  /** Begins a request when all earlier ones of its connection are answered; never, if one of the answers closed it. */
  enter(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const connection = this.#connectionOf(request.socket);
    const exchange = { request, response, begin };
    if (isFree(connection) && connection.waiting.length === 0) {
      this.#begin(connection, exchange);
      return;
    }
    connection.waiting.push(exchange);
    // Requests that are read already fit into one slice; the rest stays with the client.
    connection.reader.update();
  }

  /** Begins and reads nothing more of a connection for a while. */
  rest(socket: Socket, restMs: number): void {
    const connection = this.#connectionOf(socket);
    connection.isResting = true;
    connection.reader.update();
    setTimeout(() => {
      connection.isResting = false;
      this.#next(connection);
    }, restMs).unref();
  }

  /**
   * For `clientError`. Answers bytes that are not HTTP once all whole requests that came before are answered: no answer is
   * taken for another one. A request whose own body is broken, and which has its answer already, gets no second one.
   */
  readonly fail = (fault: SocketFault, socket: Socket): void => {
    if (!socket.writable || fault.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const connection = this.#connectionOf(socket);
    if (connection.end !== undefined) return;
    connection.reader.discard();
    const { current, unread, waiting } = connection;
    const last = waiting.at(-1) ?? current ?? unread;
    const isBroken = last?.request.complete === false;
    const isAnswered = isBroken && last.response.headersSent;
    connection.end = () => (isAnswered ? socket.destroySoon() : this.#options.answer(fault, socket));
    if (isBroken && waiting.length > 0) waiting.pop();
    else if (isBroken && !isAnswered) connection.current = undefined;
    if (connection.current === undefined && waiting.length === 0) connection.end();
  };

  /** For CONNECT. Node would close the connection, and with it the answers to requests that came before. */
  readonly refuseConnect = (_request: unknown, socket: Socket): void => {
    this.fail(new Error('CONNECT'), socket);
  };

  #begin(connection: Connection, exchange: Exchange): void {
    const { request, response } = exchange;
    connection.current = exchange;
    connection.unread = undefined;
    response.on('close', () => {
      if (connection.current !== exchange) return;
      connection.current = undefined;
      if (!request.complete) connection.unread = exchange;
      const restMs = this.#options.restAfter(request);
      if (restMs > 0) this.rest(connection.socket, restMs);
      this.#next(connection);
    });
    exchange.begin();
  }

  /** Goes on behind an answer, or behind a rest. */
  #next(connection: Connection): void {
    const { socket, waiting, reader } = connection;
    if (!socket.writable) waiting.length = 0;
    if (waiting.length > 0) {
      if (performance.now() < connection.untilMs) this.#goOn(connection);
      else this.#goOnLater(connection);
      return;
    }
    if (connection.current === undefined) this.#options.idle(socket);
    if (!socket.writable) return;
    if (connection.current === undefined) connection.end?.();
    reader.update();
  }

  #goOnLater(connection: Connection): void {
    if (connection.isLater) return;
    connection.isLater = true;
    this.#later.push(this.#options.ownerOf(connection.socket), () => {
      connection.isLater = false;
      connection.untilMs = performance.now() + turnMs;
      this.#goOn(connection);
    });
  }

  /** Begins the next request, or parses more of what was read. */
  #goOn(connection: Connection): void {
    const { socket, waiting, reader } = connection;
    if (!isFree(connection) || waiting.length === 0) {
      reader.goOn();
      return;
    }
    const next = socket.writable ? waiting.shift() : undefined;
    if (next === undefined) this.#next(connection);
    else this.#begin(connection, next);
  }

  #connectionOf(socket: Socket): Connection {
    const connection = this.#connections.get(socket);
    if (connection === undefined) throw new Error('a connection was not accepted');
    return connection;
  }
}

/** True if a request may begin. */
function isFree({ current, isResting }: Connection): boolean {
  return current === undefined && !isResting;
}

/** Pieces that wait in a body take 200 bytes each, however small they are. Nobody asks for more of a body that is whole. */
function isUnread({ current }: Connection): boolean {
  if (current === undefined || current.request.complete) return false;
  return current.request.readableFlowing !== true && current.request.readableLength > 0;
}
