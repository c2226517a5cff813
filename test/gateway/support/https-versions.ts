import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';

import { edgeCertificate } from './https-certificate.ts';
import { connectClient, openHttp2, parseAnswer } from './https-client.ts';

/** A response whose body has not been read yet. */
export interface OpenAnswer {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readable;
  /** Returns the trailers once the body has ended. */
  trailers(): Readonly<Record<string, unknown>>;
  /** Disconnects before the body has ended. */
  leave(): void;
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Ask = (port: number, asked?: Asked) => Promise<OpenAnswer>;

/** Clients of each version of HTTP: Node's own, and one of HTTP/1.0 that reads until the connection closes. */
export const clients: Readonly<Record<'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2', Ask>> = {
  async 'HTTP/1.0'(port, { method = 'GET', path = '/', headers = {} } = {}) {
    const socket = await connectClient(port);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.0\r\nHost: app.test\r\n${lines.join('')}\r\n`);
    let text = '';
    while (!text.includes('\r\n\r\n')) {
      await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
      if (socket.destroyed) throw new Error('closed before an answer');
      // Latin-1 keeps each byte as one character.
      text += (socket.read() as Buffer | null)?.toString('latin1') ?? '';
    }
    const { status, headers: answered, body } = parseAnswer(text);
    if (body !== '') socket.unshift(Buffer.from(body, 'latin1'));
    return { status, headers: answered, body: socket, trailers: () => ({}), leave: () => void socket.destroy() };
  },
  async 'HTTP/1.1'(port, { method = 'GET', path = '/', headers = {} } = {}) {
    const ca = edgeCertificate.certificate;
    const asked = requestHttps({ port, method, path, ca, servername: 'app.test', agent: false });
    asked.setHeader('Host', 'app.test');
    for (const [name, value] of Object.entries(headers)) asked.setHeader(name, value);
    asked.end();
    // The event `response` of a request has this argument.
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      body: answer,
      trailers: () => answer.trailers,
      leave: () => void asked.destroy(),
    };
  },
  async 'HTTP/2'(port, { method = 'GET', path = '/', headers = {} } = {}) {
    const session = openHttp2(port);
    session.on('error', () => {});
    const stream = session.request({ ':method': method, ':path': path, ':authority': 'app.test', ...headers });
    stream.on('close', () => {
      session.close();
    });
    // Node drops the body of a stream that ends before anything reads it.
    stream.pause();
    let trailers: IncomingHttpHeaders = {};
    stream.on('trailers', (received) => (trailers = received));
    // The event `response` of a stream has this argument.
    const [{ ':status': status, ...answered }] = (await once(stream, 'response')) as [Record<string, unknown>];
    return {
      status: Number(status),
      headers: answered,
      body: stream,
      trailers: () => trailers,
      leave: () => {
        session.destroy();
      },
    };
  },
};

/** Reads a body; `whole` if it ended without an error. */
export async function readBody({ body }: OpenAnswer): Promise<{ readonly bytes: Buffer; readonly whole: boolean }> {
  const chunks: Buffer[] = [];
  let whole = false;
  body.on('error', () => {});
  body.on('data', (chunk: Buffer) => chunks.push(chunk));
  body.on('end', () => (whole = true));
  body.resume();
  if (!body.closed) await new Promise((resolve) => body.on('close', resolve));
  return { bytes: Buffer.concat(chunks), whole };
}
