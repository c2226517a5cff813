import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { ServerConnections } from '../../lib/server-connections.ts';
import { whenReady } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { AnonymousCalls } from '../admission/anonymous-calls.ts';
import { ConnectionTurns } from '../admission/connection-turns.ts';
import type { SocketFault } from '../admission/connection-turns.ts';

interface HttpServersOptions {
  /** Bounds the connections of all servers together. */
  readonly connections: Pick<ServerConnections, 'accept' | 'busy' | 'idle'>;
  /** True for a connection that the gateway of this process has made: it must be reset. */
  readonly isOurs: (socket: Socket) => Awaitable<boolean>;
  /** A connection is closed on which no byte moves for so long in the middle of a call. */
  readonly stallSeconds: number;
  /** Writes the answer to bytes that are not HTTP, and closes the connection. */
  readonly answer: (fault: SocketFault, socket: Socket) => void;
  readonly anonymous: Pick<AnonymousCalls, 'restAfter' | 'sourceOf'>;
  /** Time that calls under way have to finish when the servers close; long enough for the largest. */
  readonly graceMs?: number;
}

/** From the first byte of a request to its last; the largest list of rules has time on a slow line. */
const requestTimeoutMs = 120_000;
/** Longer than the 60 seconds after which load balancers commonly drop an idle connection: they shall close first. */
const keepAliveMs = 72_000;

/**
 * The HTTP servers of the API, with all that is done for a connection before the framework sees its requests. There are
 * two where the API listens on both addresses of `localhost`.
 */
export class HttpServers {
  readonly #options: HttpServersOptions;
  readonly #servers: Server[] = [];
  readonly #turns: ConnectionTurns;
  /** Connections that have not had a request yet. */
  readonly #unused = new Set<Socket>();

  constructor(options: HttpServersOptions) {
    this.#options = options;
    const { connections, answer, anonymous } = options;
    let proxied = 0;
    this.#turns = new ConnectionTurns({
      idle: (socket) => connections.idle(socket),
      answer,
      // Connections of proxies are those of different clients.
      ownerOf: (socket) => String(anonymous.sourceOf(socket) ?? `proxy ${(proxied += 1)}`),
      restAfter: (request) => anonymous.restAfter(request),
    });
  }

  /** Makes a server that hands its requests to `handle`, those of one connection one after another. */
  create(handle: RequestListener): Server {
    const { connections, stallSeconds } = this.#options;
    const turns = this.#turns;
    const enter = (request: IncomingMessage, response: ServerResponse) => {
      this.#unused.delete(request.socket);
      connections.busy(request.socket);
      turns.enter(request, response, () => this.#begin(request, response, handle));
    };
    const options = {
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      // A request without one is answered by the framework, as every other fault is.
      requireHostHeader: false,
    };
    const server = createServer(options, enter);
    // Node counts bytes that a client takes as progress, and has a limit of its own between calls.
    server.setTimeout(stallSeconds * 1000);
    // Before Node has set up what it needs for a connection that is not refused.
    server.prependListener('connection', (socket) => this.#accept(socket));
    server.on('connection', turns.accept);
    server.on('connect', turns.refuseConnect).on('clientError', turns.fail);
    // Node would answer an unknown Expect with a bare 417; HTTP lets a server ignore it.
    server.on('checkExpectation', enter);
    this.#servers.push(server);
    return server;
  }

  /**
   * To be called when the servers begin to close: calls under way may finish, and nothing else holds them. Node counts a
   * connection as idle only once it has had a request: one that never sends any would keep its server open for ever.
   */
  closeInTime(): void {
    for (const socket of this.#unused) socket.destroy();
    setTimeout(() => {
      for (const server of this.#servers) server.closeAllConnections();
    }, this.#options.graceMs ?? 10_000).unref();
  }

  /** Begins and reads nothing more of a connection for a while. */
  rest(socket: Socket, restMs: number): void {
    this.#turns.rest(socket, restMs);
  }

  #accept(socket: Socket): void {
    this.#options.connections.accept(socket);
    this.#unused.add(socket);
    socket.once('close', () => this.#unused.delete(socket));
  }

  /** Resets a connection that the gateway has made on behalf of somebody's client, before anything that it says counts. */
  #begin(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const { socket } = request;
    void whenReady(this.#options.isOurs(socket), (ours) => {
      if (ours) socket.resetAndDestroy();
      else handle(request, response);
    });
  }
}
