import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { request } from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import type { ClientPair } from '../../support/client-certificates.ts';
import type { ServedAgents } from './served-agents.ts';

export interface VisitOptions {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that the visitor comes from. */
  readonly from?: string;
  readonly body?: string | Buffer;
  /** A certificate of the visitor's own. */
  readonly pair?: ClientPair;
}

export interface VisitAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The code of an error of the gateway's own. */
  readonly code: string | undefined;
}

/** Visits an HTTP endpoint by its URL, on a connection of its own. */
export async function visit(
  { gatehouse, ca }: ServedAgents,
  url: string | null,
  { path = '/', method = 'GET', headers = {}, from = '127.0.0.1', body, pair }: VisitOptions = {},
): Promise<VisitAnswer> {
  const { hostname } = new URL(url ?? '');
  const sent = request({
    host: '127.0.0.1',
    port: gatehouse.httpsPort,
    servername: hostname,
    localAddress: from,
    ca,
    agent: false,
    ...pair,
    path,
    method,
    headers: { host: hostname, ...headers },
  });
  sent.end(body);
  // The event has this argument.
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { statusCode = 0, headers: answered } = response;
  const code = answered['gatehouse-error-code'];
  return {
    status: statusCode,
    headers: answered,
    body: Buffer.concat(chunks).toString('latin1'),
    code: typeof code === 'string' ? code : undefined,
  };
}

/** Connects to a TCP endpoint, says something and returns all that comes until the end; undefined if it is reset. */
export async function visitTcp(url: string | null, text: string, from = '127.0.0.1'): Promise<string | undefined> {
  const socket = connect({ port: Number(new URL(url ?? '').port), host: '127.0.0.1', localAddress: from });
  return say(socket, text);
}

/** Says something and returns all that comes until the end; undefined if the connection is reset. */
export async function say(socket: Socket, text: string): Promise<string | undefined> {
  let [received, isBroken] = ['', false];
  socket.on('data', (chunk) => (received += chunk.toString('latin1'))).on('error', () => (isBroken = true));
  socket.end(text);
  await new Promise((resolve) => socket.on('close', resolve));
  return isBroken ? undefined : received;
}

/** Opens a connection of TLS to the name in the URL. */
export function visitTls(
  { gatehouse }: ServedAgents,
  url: string | null,
  { from = '127.0.0.1', ...options }: ConnectionOptions & { readonly from?: string } = {},
): TLSSocket {
  const port = gatehouse.httpsPort;
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  return connectTls({ socket, servername: new URL(url ?? '').hostname, ...options }).on('error', () => {});
}

/** Starts the program behind an agent, for HTTP. Returns its URL. */
export async function httpProgram(t: TestContext, answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createHttpServer(answer))}`;
}

/** Starts the program behind an agent, for bytes. Returns its port. */
export async function rawProgram(t: TestContext, answer: (socket: Socket) => void): Promise<number> {
  return listen(
    t,
    createServer((socket) => {
      answer(socket.on('error', () => {}));
    }),
  );
}

/** Starts a program that ends TLS itself and says what it hears. Returns its URL. */
export async function tlsProgram(
  t: TestContext,
  { certificate: cert, key }: { readonly certificate: string; readonly key: string },
): Promise<string> {
  const server = createTlsServer({ cert, key, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}).pipe(socket);
  });
  return `tls://127.0.0.1:${await listen(t, server)}`;
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  // A server that listens on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}
