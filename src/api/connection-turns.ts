import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

/** A fault that Node's parser has found, or a method that it does not hand on as a request. */
export type SocketFault = Error & { readonly code?: string };

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly begin: () => void;
}

interface Connection {
  current: Exchange | undefined;
  readonly waiting: Exchange[];
  /** An answered exchange whose request body is still being received. */
  unread: Exchange | undefined;
  /** Ends the connection; set once bytes have come that are not HTTP. */
  end: (() => void) | undefined;
}

/**
 * Carries out the requests of one connection one after another, in the order in which they came. So every answer is that
 * of its own request, a request behind an answer that closes the connection is not carried out, and many requests sent at
 * once on one connection are no more than one call at a time.
 */
export class ConnectionTurns {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #answer: (fault: SocketFault, socket: Socket) => void;

  /** `answer` writes the answer to bytes that are not HTTP, and closes the connection. */
  constructor(answer: (fault: SocketFault, socket: Socket) => void) {
    this.#answer = answer;
  }

  /** Makes every request of the app wait for its turn. `fail` is to be its `clientErrorHandler`. */
  attach(app: FastifyInstance): void {
    app.server.on('connect', this.#refuseConnect);
    app.addHook('onRequest', ({ raw }, reply, done) => {
      const server = serverOf(raw.socket);
      if (server !== app.server && server?.listeners('connect').includes(this.#refuseConnect) === false) {
        // Fastify makes a second server for the other address of `localhost`, without these handlers.
        server.on('connect', this.#refuseConnect).on('clientError', this.fail);
      }
      this.enter(raw, reply.raw, done);
    });
  }

  /** Calls `begin` when all earlier requests of the connection are answered; never, if one of the answers closed it. */
  enter(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request;
    const connection = this.#connectionOf(socket);
    const exchange = { request, response, begin };
    if (connection.current === undefined) {
      this.#begin(socket, connection, exchange);
      return;
    }
    connection.waiting.push(exchange);
    // Requests that are read already fit into one read; the rest stays with the client.
    socket.pause();
  }

  /**
   * Answers bytes that are not HTTP once all whole requests that came before are answered: no answer is taken for another
   * one. A request whose own body is broken, and which has its answer already, gets no second one.
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
    connection.end = () => (isAnswered ? socket.destroySoon() : this.#answer(fault, socket));
    if (isBroken && waiting.length > 0) waiting.pop();
    else if (isBroken && !isAnswered) connection.current = undefined;
    if (connection.current === undefined) connection.end();
  };

  /** Node would close the connection, and with it the answers to requests that came before. */
  readonly #refuseConnect = (_request: unknown, socket: Socket): void => {
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
    exchange.begin();
  }

  #next(socket: Socket, connection: Connection): void {
    const { waiting } = connection;
    if (!socket.writable) {
      waiting.length = 0;
      return;
    }
    const next = waiting.shift();
    if (next === undefined) {
      connection.end?.();
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

function serverOf(socket: Socket): Server | undefined {
  // Node sets it on every socket of a server, and has no type for it.
  return (socket as { readonly server?: Server }).server;
}
