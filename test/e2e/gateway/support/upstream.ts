import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { portOf } from '../../../gateway/support/https-upstream.ts';

/** Response body of an upstream: the request as it arrived. */
export interface Echo {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface Upstream extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly server: Server;
  /** Number of requests that arrived. */
  requests: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a real HTTP server that answers with its name and the request. */
export async function startUpstream(name = 'upstream', answer?: Answer, port = 0): Promise<Upstream> {
  const server = createServer((request, response) => {
    upstream.requests += 1;
    if (answer !== undefined) {
      answer(request, response);
      return;
    }
    request.resume();
    const { method = '', url = '', headers } = request;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ name, method, url, headers }));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const upstream = {
    name,
    port: portOf(server),
    server,
    requests: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return upstream;
}
