import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { Gatehouse } from '../../support/gatehouse.ts';

export interface Upstream extends AsyncDisposable {
  /** host:port, as a backend has it. */
  readonly address: string;
  readonly seen: IncomingHttpHeaders[];
}

/** A program behind an edge that says its name. */
export async function startUpstream(name: string): Promise<Upstream> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    response.end(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface EdgeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A visitor's request to an HTTPS edge, over TLS that is checked. */
export async function visit(
  { app }: Gatehouse,
  host: string,
  path = '/',
  headers: Readonly<Record<string, string>> = {},
): Promise<EdgeAnswer> {
  const sent = request({
    host: '127.0.0.1',
    port: app.engine?.httpsPort(),
    servername: host,
    ca: app.engine?.caCertificatePem,
    path,
    headers: { host, ...headers },
    agent: false,
  });
  sent.end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
