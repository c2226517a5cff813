import { X509Certificate } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';

import type { Echo } from './upstream.ts';

export interface Asking {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** Source address. */
  readonly from?: string;
  /** Destination address. */
  readonly to?: string;
  /** PEM of the authority to trust; without it, any certificate is accepted. */
  readonly ca?: string;
  /** Agent to use; default: a new connection. */
  readonly agent?: Agent;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Code of an error from the gateway itself. */
  readonly errorCode: number | undefined;
  /** Request as the upstream got it, if an echoing upstream answered. */
  readonly echo: Echo | undefined;
  readonly certificate: X509Certificate | undefined;
}

/** Sends one request to an HTTPS edge. Rejects if the connection is refused. */
export function askHttps(port: number, host: string, asking: Asking = {}): Promise<Answered> {
  const { to = '127.0.0.1', from, ca, agent = false } = asking;
  return send(
    requestHttps({
      ...sharedOptions(port, host, asking),
      host: to,
      servername: host,
      agent,
      ...(from === undefined ? {} : { localAddress: from }),
      ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    }),
    asking.body,
  );
}

/** Sends one request through a TCP edge to an HTTP upstream. Rejects if the connection is refused or reset. */
export function askTcp(port: number, asking: Asking = {}): Promise<Answered> {
  const { to = '127.0.0.1', from } = asking;
  const local = from === undefined ? {} : { localAddress: from };
  return send(
    requestHttp({ ...sharedOptions(port, 'tcp.test', asking), host: to, agent: false, ...local }),
    asking.body,
  );
}

function sharedOptions(port: number, host: string, { path = '/', method = 'GET', headers = {} }: Asking) {
  return { port, path, method, headers: { host, ...headers } };
}

async function send(request: ReturnType<typeof requestHttp>, body: string | undefined): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  request.on('error', reject).on('response', (response) => {
    const { statusCode: status = 0, headers, socket } = response;
    // The certificate must be read before the socket closes.
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const code = headers['gatehouse-error-code'];
      const errorCode = typeof code === 'string' ? Number(/\d+$/.exec(code)?.[0]) : undefined;
      const echo: Echo | undefined = text.startsWith('{"name"') ? JSON.parse(text) : undefined;
      resolve({ status, headers, text, errorCode, echo, certificate });
    });
  });
  request.end(body);
  return promise;
}
