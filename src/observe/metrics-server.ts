import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Awaitable } from '../lib/awaitable.ts';
import type { ServerConnections } from '../lib/server-connections.ts';
import type { Metrics } from './metrics.ts';

/** True for a connection that the gateway has made to itself: it must be reset. Must not fail. */
type IsOurs = (socket: Socket) => Awaitable<boolean>;

/** Serves the metrics at /metrics, to whoever can reach the address: it holds no secrets, but belongs on a private one. */
export async function serveMetrics(
  metrics: Metrics,
  listen: { readonly host: string; readonly port: number },
  { isOurs, connections }: { readonly isOurs: IsOurs; readonly connections: Pick<ServerConnections, 'attach'> },
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    void answer(metrics, request, response, isOurs);
  });
  connections.attach(server);
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : listen.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  metrics: Metrics,
  request: IncomingMessage,
  response: ServerResponse,
  isOurs: IsOurs,
): Promise<void> {
  if (await isOurs(request.socket)) {
    request.socket.resetAndDestroy();
    return;
  }
  if (request.url !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('The metrics are at /metrics.\n');
    return;
  }
  await metrics.registry.metrics().then(
    (text) => response.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(text),
    () => response.writeHead(500).end(),
  );
}
