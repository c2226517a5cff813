import { createServer, ServerResponse } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { headersTooLarge, malformedRequest, requestTimeout } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { newOperationId } from '../../../lib/ids.ts';
import type { GatewayTimeouts } from '../../engine.ts';
import { errorAnswer } from '../error-page.ts';
import type { ClientConnection, Exchange } from '../exchange.ts';
import { formatHeaders } from '../headers/header-list.ts';
import { Http1Exchange } from './exchange-h1.ts';
import type { UpgradeRequest } from './exchange-h1.ts';
import type { IdleConnection } from './idle-connection.ts';
import { RequestLines } from './request-lines.ts';
import { RequestTurns } from './request-turns.ts';

const headBytes = 32_768;
/** Time that a refused client has to read its answer. */
const lingerMs = 1000;

interface Connection {
  readonly socket: Socket;
  readonly client: ClientConnection;
  readonly lines: RequestLines;
  readonly onData: (chunk: Buffer) => void;
  readonly turns: RequestTurns;
  /** Runs out if the head of the next request is late. */
  overdue: NodeJS.Timeout | undefined;
  /** Bytes came that are not HTTP. */
  isBroken: boolean;
  /** The newest request. */
  last: IncomingMessage | undefined;
}

/** Facts about a request that are known once it is read, whenever its turn comes. */
interface RequestForm {
  readonly lineIsExact: boolean;
  readonly upgrade: UpgradeRequest | undefined;
}

/** Speaks HTTP/1 on connections that are handed to it, by Node's own server: the slow path. */
export class Http1Server {
  readonly #server: Server;
  readonly #timeouts: GatewayTimeouts;
  readonly #connections = new Map<Duplex, Connection>();
  /** Connections whose clients were told of the close: a request that still comes must not be carried out. */
  readonly #closing = new WeakSet<object>();
  /** Connections that were answered with an error and are about to be closed. */
  readonly #refused = new WeakSet<object>();
  readonly #handle: (exchange: Exchange) => void;
  readonly #errorPrefix: string;

  constructor(timeouts: GatewayTimeouts, errorPrefix: string, handle: (exchange: Exchange) => void) {
    this.#timeouts = timeouts;
    this.#handle = handle;
    this.#errorPrefix = errorPrefix;
    this.#server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: headBytes,
      // Missing and repeated Host headers are refused with an error of the gateway's own.
      requireHostHeader: false,
      headersTimeout: timeouts.headersMs,
      // A body may take as long as it moves; the idle timeout of the exchange applies.
      requestTimeout: 0,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.ceil(Math.max(10, Math.min(1000, timeouts.headersMs / 4))),
    });
    // Node would silently drop headers beyond a count; the limit of the head's size is an error instead.
    this.#server.maxHeadersCount = 0;
    this.#listen();
  }

  accept(socket: Socket, client: ClientConnection): void {
    const lines = new RequestLines();
    const onData = (chunk: Buffer): void => {
      lines.push(chunk);
    };
    this.#server.emit('connection', socket);
    // In front of Node's own listener; Node then leaves the reading to the socket.
    socket.prependListener('data', onData);
    // After Node's own listeners are on the socket, which its turns have to outdo.
    const turns = new RequestTurns(socket);
    this.#connections.set(socket, {
      socket,
      client,
      lines,
      onData,
      turns,
      overdue: undefined,
      isBroken: false,
      last: undefined,
    });
    socket.on('close', () => {
      clearTimeout(this.#connections.get(socket)?.overdue);
      this.#connections.delete(socket);
    });
  }

  /** Answers 408 to a client that has sent no request in time. */
  refuseLate(socket: Socket): void {
    socket.on('error', () => {});
    this.#refuse(socket, new UserError(requestTimeout));
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const { socket, turns } of this.#connections.values()) {
      if (turns.idleSince !== undefined) yield { idleSince: turns.idleSince, close: () => socket.destroySoon() };
    }
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
  }

  close(): void {
    // Ends Node's timer for late headers; there is no listener to close.
    this.#server.close();
  }

  #listen(): void {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#closing.has(request.socket)) request.resume();
      else this.#takeTurn(request, response);
    };
    this.#server.on('request', onRequest);
    this.#server.on('checkContinue', onRequest);
    this.#server.on('checkExpectation', onRequest);
    this.#server.on('upgrade', (request, socket, firstBytes) => {
      this.#onUpgrade(request, socket, firstBytes);
    });
    this.#server.on('connect', (request, socket, firstBytes) => {
      this.#onUpgrade(request, socket, firstBytes);
    });
    this.#server.on('clientError', (error, socket) => {
      this.#onClientError(error, socket);
    });
    // Starts Node's timer for late headers: this server never listens, its connections come from elsewhere.
    this.#server.emit('listening');
  }

  #takeTurn(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    clearTimeout(connection.overdue);
    connection.last = request;
    const form = { lineIsExact: connection.lines.has(request), upgrade: undefined };
    connection.turns.take(() => {
      this.#begin(connection, request, response, form);
    });
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, firstBytes: Buffer): void {
    const { socket: clientSocket } = request;
    clientSocket.on('error', () => {});
    if (this.#closing.has(clientSocket)) return;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    try {
      // Throws while the answer to an earlier, pipelined request is still on its way.
      response.assignSocket(clientSocket);
    } catch {
      socket.destroy();
      return;
    }
    response.on('finish', () => {
      clientSocket.destroySoon();
    });
    const connection = this.#connections.get(clientSocket);
    if (connection === undefined) return;
    clearTimeout(connection.overdue);
    clientSocket.off('data', connection.onData);
    const form = { lineIsExact: connection.lines.has(request), upgrade: { socket: clientSocket, firstBytes } };
    connection.turns.take(() => {
      this.#begin(connection, request, response, form);
    });
  }

  #begin({ client, turns }: Connection, request: IncomingMessage, response: ServerResponse, facts: RequestForm): void {
    response.on('close', () => {
      turns.done();
    });
    const closes = (): void => {
      this.#closing.add(request.socket);
      turns.stop();
    };
    this.#handle(new Http1Exchange(request, response, client, { ...facts, closes }));
  }

  /** Called for bytes that are not HTTP, and for heads that are late. */
  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    // Further bytes are read and discarded, or the client would be reset before it has its answer.
    if (this.#refused.has(socket)) return;
    // Bytes behind a request that closes the connection are no request; those before them are still answered.
    const isClosing = error.code === 'HPE_CLOSED_CONNECTION' || this.#closing.has(socket);
    if (isClosing && error.code?.startsWith('HPE_') === true) return;
    const connection = this.#connections.get(socket);
    // Not in the middle of a body: the request that it belongs to cannot be completed.
    if (
      connection?.turns.isBusy === true &&
      connection.last?.complete === true &&
      error.code?.startsWith('HPE_') === true
    ) {
      // The requests before are answered first; one of them may close the connection, and this is never answered.
      if (!connection.isBroken) connection.turns.take(() => this.#refuse(socket, toUserError(error)));
      connection.isBroken = true;
      return;
    }
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection?.turns.isBusy === true) {
      // It may be that nobody reads the head: the client has its time when the answers before are out.
      connection.overdue = setTimeout(() => {
        this.#onClientError(error, socket);
      }, this.#timeouts.headersMs);
      return;
    }
    // A second answer must not get into the middle of one that is under way.
    if (!socket.writable || error.code === 'ECONNRESET' || hasAnswerUnderWay(socket)) {
      socket.destroy();
      return;
    }
    this.#refuse(socket, toUserError(error));
  }

  #refuse(socket: Duplex, error: UserError): void {
    const { status, headers, body } = errorAnswer(error, newOperationId(), '', this.#errorPrefix);
    const list = [...headers, 'Content-Length', String(body.length), 'Connection', 'close'];
    socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} \r\n${formatHeaders(list)}\r\n`, 'latin1'), body]));
    this.#refused.add(socket);
    socket.resume();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  }
}

function hasAnswerUnderWay(socket: Duplex): boolean {
  // The response that a socket belongs to; Node has no public name for it.
  const mark: unknown = Reflect.get(socket, '_httpMessage');
  return mark !== null && mark !== undefined;
}

function toUserError(error: NodeJS.ErrnoException): UserError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new UserError(headersTooLarge);
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new UserError(requestTimeout);
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : 'malformed request';
  return new UserError(malformedRequest, { reason: reason.toLowerCase() });
}
