import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A fault that Node's parser has found, or a method that it does not hand on as a request. */
export type SocketFault = Error & { readonly code?: string };

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  current: Exchange | undefined;
  readonly waiting: Exchange[];
  /** An answered exchange whose request body is still being received. */
  unread: Exchange | undefined;
  /** Ends the connection; set once bytes have come that are not HTTP. */
  end: (() => void) | undefined;
}

interface ConnectionTurnsOptions {
  /** Carries out a request. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void;
  /** No request of the connection is under way any more. */
  readonly idle: (socket: Socket) => void;
  /** Writes the answer to bytes that are not HTTP, and closes the connection. */
  readonly answer: (fault: SocketFault, socket: Socket) => void;
}

/**
 * Carries out the requests of one connection one after another, in the order in which they came. So every answer is that
 * of its own request, a request behind an answer that closes the connection is not carried out, and many requests sent at
 * once on one connection are no more than one call at a time.
 */
export class ConnectionTurns {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #options: ConnectionTurnsOptions;

  constructor(options: ConnectionTurnsOptions) {
    this.#options = options;
  }

  /** Begins a request when all earlier ones of its connection are answered; never, if one of the answers closed it. */
  enter(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#connectionOf(socket);
    const exchange = { request, response };
    if (connection.current === undefined) {
      this.#begin(socket, connection, exchange);
      return;
    }
    connection.waiting.push(exchange);
    // Requests that are read already fit into one read; the rest stays with the client.
    socket.pause();
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
    // The parser reports every further read of a connection that it has given up.
    if (connection.end !== undefined) return;
    const { current, unread, waiting } = connection;
    const last = waiting.at(-1) ?? current ?? unread;
    const isBroken = last?.request.complete === false;
    const isAnswered = isBroken && last.response.headersSent;
    connection.end = () => (isAnswered ? socket.destroySoon() : this.#options.answer(fault, socket));
    if (isBroken && waiting.length > 0) waiting.pop();
    else if (isBroken && !isAnswered) connection.current = undefined;
    if (connection.current === undefined) connection.end();
  };

  /** For CONNECT. Node would close the connection, and with it the answers to requests that came before. */
  readonly refuseConnect = (_request: unknown, socket: Socket): void => {
    this.fail(new Error('CONNECT'), socket);
  };

  #begin(socket: Socket, connection: Connection, exchange: Exchange): void {
    connection.current = exchange;
    connection.unread = undefined;
    exchange.response.on('close', () => {
      if (connection.current !== exchange) return;
      connection.current = undefined;
      if (!exchange.request.complete) connection.unread = exchange;
      this.#next(socket, connection);
    });
    this.#options.begin(exchange.request, exchange.response);
  }

  #next(socket: Socket, connection: Connection): void {
    const { waiting } = connection;
    if (!socket.writable) waiting.length = 0;
    const next = waiting.shift();
    if (next === undefined) {
      this.#options.idle(socket);
      if (socket.writable) connection.end?.();
      return;
    }
    if (waiting.length === 0) socket.resume();
    this.#begin(socket, connection, next);
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = { current: undefined, waiting: [], unread: undefined, end: undefined };
    this.#connections.set(socket, connection);
    return connection;
  }
}
