import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
}

export interface TestUpstream extends AsyncDisposable {
  readonly port: number;
  readonly seen: SeenRequest[];
  /** Number of connections so far. */
  connections: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Starts a real HTTP server that records its requests and, without `answer`, echoes them. */
export async function startUpstream(answer: Answer = echoRequest): Promise<TestUpstream> {
  const seen: SeenRequest[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const { method = '', url = '', rawHeaders, rawTrailers } = request;
      seen.push({ method, url, headers: rawHeaders, body, trailers: rawTrailers });
      answer(request, response, body);
    });
  });
  const upstream = await listen(server);
  return Object.assign(upstream, { seen });
}

export interface HeldUpstream extends TestUpstream {
  /** Ends the open response. */
  release(): void;
}

/** Starts an upstream that sends `start`, if any, and `end` on `release`. */
export async function startHeldUpstream(start: string, end: string): Promise<HeldUpstream> {
  let waiting: ServerResponse | undefined;
  const upstream = await startUpstream((_, response) => {
    if (start !== '') response.write(start);
    waiting = response;
  });
  return Object.assign(upstream, { release: () => void waiting?.end(end) });
}

function echoRequest(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.setHeader('X-Upstream', 'yes').end(`${request.method} ${request.url} ${body}`);
}

export interface RawUpstream extends AsyncDisposable {
  readonly port: number;
  /** Data of all connections, in Latin-1. */
  received: string;
  connections: number;
  /** Number of open connections. */
  readonly open: number;
}

/** Starts an upstream that answers each request head with given bytes, valid or not. */
export async function startRawUpstream(answer: (socket: Socket, received: string) => void): Promise<RawUpstream> {
  const state = { received: '' };
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      state.received += text;
      answer(socket, text);
    });
  });
  const upstream = await listen(server);
  return Object.defineProperty(Object.assign(upstream, { received: '' }), 'received', { get: () => state.received });
}

async function listen(server: Server) {
  const sockets = new Set<Socket>();
  const upstream = {
    port: 0,
    connections: 0,
    get open() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('connection', (socket: Socket) => {
    upstream.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  upstream.port = portOf(server);
  return upstream;
}

export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('not listening on a port');
  return address.port;
}

export function headerValues(headers: readonly string[], lowerName: string): string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === lowerName);
}
