import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';

import { portOf } from './https-upstream.ts';

export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  /** Name, value, name, value, … as received. */
  readonly headers: readonly string[];
  /** Body in Latin-1. */
  readonly body: string;
  readonly trailers: readonly string[];
}

/** An upstream that reads the bytes of the gateway by the strictest rules there are. */
export interface Recorder extends AsyncDisposable {
  readonly port: number;
  /** Complete requests, in the order of their last bytes. */
  readonly requests: RecordedRequest[];
  /** Bytes that are not well formed: what came, and why it is wrong. */
  readonly faults: string[];
}

class Malformed extends Error {}

const requestLine = /^([A-Z-]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const headerLine =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** Starts an upstream that answers each request with 200, and an offer of another protocol with 426. */
export async function startRecorder(): Promise<Recorder> {
  const requests: RecordedRequest[] = [];
  const faults: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    let continued = false;
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      try {
        for (let read = readRequest(text); read !== undefined; read = readRequest(text)) {
          text = text.slice(read.length);
          continued = false;
          requests.push(read.request);
          socket.write(answerTo(read.request), 'latin1');
        }
        if (!continued && /^Expect: 100-continue\r$/m.test(text) && text.includes('\r\n\r\n')) {
          continued = true;
          socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        }
      } catch (error) {
        if (!(error instanceof Malformed)) throw error;
        faults.push(`${error.message}: ${JSON.stringify(text.slice(0, 2000))}`);
        socket.destroy();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    requests,
    faults,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function answerTo({ method, target, headers }: RecordedRequest): string {
  const asksForProtocol = headers.some((name, at) => at % 2 === 0 && name === 'Upgrade');
  const body = `seen ${target}`;
  const head = `HTTP/1.1 ${asksForProtocol ? '426 Upgrade Required' : '200 OK'}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return method === 'HEAD' ? head : head + body;
}

/** Returns undefined if the text is the start of a request. */
function readRequest(text: string): { readonly request: RecordedRequest; readonly length: number } | undefined {
  if (text === '') return undefined;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) {
    if (!/^[A-Z]/.test(text)) throw new Malformed('not a request');
    return undefined;
  }
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, method, target] = requestLine.exec(line) ?? [];
  if (method === undefined || target === undefined) throw new Malformed('request line');
  const headers = readLines(lines);
  const body = readBody(text, end + 4, headers);
  if (body === undefined) return undefined;
  return { request: { method, target, headers, body: body.data, trailers: body.trailers }, length: body.end };
}

function readLines(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) throw new Malformed('header line');
    return [name, value];
  });
}

interface ReadBody {
  readonly data: string;
  readonly trailers: readonly string[];
  readonly end: number;
}

function readBody(text: string, at: number, headers: readonly string[]): ReadBody | undefined {
  const [lengths, codings] = ['content-length', 'transfer-encoding'].map((wanted) =>
    headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === wanted),
  );
  const length = lengths?.[0];
  const coding = codings?.[0];
  if ((lengths?.length ?? 0) + (codings?.length ?? 0) > 1) throw new Malformed('framed twice');
  if (coding !== undefined) {
    if (coding !== 'chunked') throw new Malformed('transfer coding');
    return readChunks(text, at);
  }
  if (length !== undefined && !(/^(?:0|[1-9][0-9]*)$/.test(length) && Number.isSafeInteger(Number(length))))
    throw new Malformed('length');
  const end = at + Number(length ?? 0);
  return end > text.length ? undefined : { data: text.slice(at, end), trailers: [], end };
}

function readChunks(text: string, at: number): ReadBody | undefined {
  let data = '';
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const digits = text.slice(at, lineEnd);
    if (!/^(?:0|[1-9a-f][0-9a-f]{0,7})$/.test(digits)) throw new Malformed('chunk size');
    const size = Number.parseInt(digits, 16);
    at = lineEnd + 2;
    if (size === 0) break;
    if (text.length < at + size + 2) return undefined;
    if (text.slice(at + size, at + size + 2) !== '\r\n') throw new Malformed('end of a chunk');
    data += text.slice(at, at + size);
    at += size + 2;
  }
  if (text.startsWith('\r\n', at)) return { data, trailers: [], end: at + 2 };
  const end = text.indexOf('\r\n\r\n', at);
  return end < 0 ? undefined : { data, trailers: readLines(text.slice(at, end).split('\r\n')), end: end + 4 };
}
