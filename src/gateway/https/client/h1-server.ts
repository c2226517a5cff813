import { createServer, ServerResponse } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

import { headersTooLarge, malformedRequest, requestTimeout } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { newOperationId } from '../../../lib/ids.ts';
import type { GatewayTimeouts } from '../../engine.ts';
import { errorAnswer } from '../error-page.ts';
import { formatHeaders } from '../headers/forward-headers.ts';
import { Http1Exchange } from './exchange-h1.ts';
import type { UpgradeRequest } from './exchange-h1.ts';
import type { ClientConnection, Exchange } from './exchange.ts';

const headBytes = 32_768;
/** How long a refused client has to read its answer. */
const lingerMs = 1000;

/** Speaks HTTP/1 on connections that are handed to it. */
export class Http1Server {
  readonly #server: Server;
  readonly #clients = new WeakMap<object, ClientConnection>();
  /** Connections whose clients were told of the close: a request that still comes must not be carried out. */
  readonly #closing = new WeakSet<object>();
  /** Connections that were told why and are about to be closed. */
  readonly #refused = new WeakSet<object>();
  readonly #handle: (exchange: Exchange) => void;
  readonly #errorPrefix: string;

  constructor(timeouts: GatewayTimeouts, errorPrefix: string, handle: (exchange: Exchange) => void) {
    this.#handle = handle;
    this.#errorPrefix = errorPrefix;
    this.#server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: headBytes,
      // Missing and repeated ones are refused with an error of ours.
      requireHostHeader: false,
      headersTimeout: timeouts.headersMs,
      // Bodies may take as long as they move; the idle limit of the exchange holds for them.
      requestTimeout: 0,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.ceil(Math.max(10, Math.min(1000, timeouts.headersMs / 4))),
    });
    // Headers beyond a count would be dropped silently; the size limit bounds them loudly.
    this.#server.maxHeadersCount = 0;
    this.#listen();
  }

  accept(socket: TLSSocket, client: ClientConnection): void {
    this.#clients.set(socket, client);
    this.#server.emit('connection', socket);
  }

  /** Tells a client that has asked for nothing so far that it is too late. */
  refuseLate(socket: TLSSocket): void {
    socket.on('error', () => {});
    this.#refuse(socket, new UserError(requestTimeout));
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
  }

  close(): void {
    // Ends the timer that looks for late headers; there is no listener of its own to close.
    this.#server.close();
  }

  #listen(): void {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#closing.has(request.socket)) request.resume();
      else this.#begin(request, response, undefined);
    };
    this.#server.on('request', onRequest);
    this.#server.on('checkContinue', onRequest);
    this.#server.on('checkExpectation', onRequest);
    this.#server.on('upgrade', (request, socket, rest) => {
      this.#onUpgrade(request, socket, rest);
    });
    this.#server.on('connect', (request, socket, rest) => {
      this.#onUpgrade(request, socket, rest);
    });
    this.#server.on('clientError', (error, socket) => {
      this.#onClientError(error, socket);
    });
    // Node starts to look for late headers when a server listens; this one gets its connections from elsewhere.
    this.#server.emit('listening');
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
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
    this.#begin(request, response, { socket: clientSocket, rest });
  }

  #begin(request: IncomingMessage, response: ServerResponse, upgrade: UpgradeRequest | undefined): void {
    const { socket } = request;
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    const closes = (): void => void this.#closing.add(socket);
    this.#handle(new Http1Exchange(request, response, client, upgrade, closes));
  }

  /** What came could not be read as HTTP, or not in time. */
  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    // What comes behind the fault is read and thrown away, or the client would be reset before it has its answer.
    if (this.#refused.has(socket)) return;
    // An answer under way must not get another one into its middle.
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
  // Node's mark of the response that a socket belongs to; it has no public name.
  const mark: unknown = Reflect.get(socket, '_httpMessage');
  return mark !== null && mark !== undefined;
}

function toUserError(error: NodeJS.ErrnoException): UserError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new UserError(headersTooLarge);
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new UserError(requestTimeout);
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : 'malformed request';
  return new UserError(malformedRequest, { reason: reason.toLowerCase() });
}
