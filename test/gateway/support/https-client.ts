import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import { edgeCertificate } from './https-certificate.ts';

export interface Connecting {
  readonly servername?: string;
  readonly localAddress?: string;
  readonly host?: string;
  readonly alpn?: readonly string[];
}

/** Made once, as it takes longer than a handshake. */
const secureContext = createSecureContext({ ca: edgeCertificate.certificate });

/** Opens a TLS connection that trusts the test certificate and nothing else. */
export async function connectClient(port: number, options: Connecting = {}): Promise<TLSSocket> {
  const { servername = 'app.test', localAddress, host = '127.0.0.1', alpn = ['http/1.1'] } = options;
  const socket = connectTls({
    port,
    host,
    servername,
    secureContext,
    ALPNProtocols: [...alpn],
    ...(localAddress !== undefined && { localAddress }),
    // Tests use names outside the certificate to check the response of the gateway.
    checkServerIdentity: () => undefined,
  });
  await once(socket, 'secureConnect');
  return socket;
}

export interface RawAnswer {
  readonly status: number;
  /** Headers by lower-case name; repeated ones are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** All data until the connection ended. */
  readonly text: string;
}

/** Sends bytes unchanged and reads until the gateway closes. */
export async function sendRaw(port: number, bytes: string, options: Connecting = {}): Promise<RawAnswer> {
  const socket = await connectClient(port, options);
  socket.write(bytes, 'latin1');
  return parseAnswer(await readAll(socket));
}

export async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  if (!socket.closed) await once(socket, 'close');
  return text;
}

export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]},${value}` : value;
  }
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: text.slice(end + 4), text };
}

/** Formats an HTTP/1.1 request with `Connection: close`, so that `sendRaw` returns. */
export function get(path: string, ...headerLines: readonly string[]): string {
  const lines = headerLines.some((line) => /^host:/i.test(line)) ? headerLines : ['Host: app.test', ...headerLines];
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
}

export function openHttp2(port: number, servername = 'app.test'): ClientHttp2Session {
  return connectHttp2(`https://127.0.0.1:${port}`, { servername, ca: edgeCertificate.certificate });
}

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly interims: readonly number[];
}

export async function requestHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
  trailers?: OutgoingHttpHeaders,
): Promise<Http2Answer> {
  const stream = session.request(
    { ':authority': 'app.test', ...headers },
    { endStream: body === undefined, waitForTrailers: trailers !== undefined },
  );
  const seen = { headers: {} as Record<string, unknown>, trailers: {} as Record<string, unknown>, body: '' };
  const interims: number[] = [];
  stream.on('headers', (interim) => interims.push(Number(interim[':status'])));
  stream.on('response', (head) => Object.assign(seen.headers, head));
  stream.on('trailers', (tail) => Object.assign(seen.trailers, tail));
  stream.on('data', (chunk: Buffer) => (seen.body += chunk.toString('latin1')));
  stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}));
  stream.on('error', () => {});
  if (body !== undefined) stream.end(body);
  await new Promise((resolve) => stream.on('close', resolve));
  return { status: Number(seen.headers[':status'] ?? 0), ...seen, interims };
}
