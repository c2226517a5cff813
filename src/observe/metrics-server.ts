import { once } from 'node:events';
import { createServer } from 'node:http';

import type { Metrics } from './metrics.ts';

/** Serves the metrics at /metrics, to whoever can reach the address: it holds no secrets, but belongs on a private one. */
export async function serveMetrics(
  metrics: Metrics,
  listen: { readonly host: string; readonly port: number },
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('The metrics are at /metrics.\n');
      return;
    }
    metrics.registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
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
