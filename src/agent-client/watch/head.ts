import { listTokens } from '../../lib/http-syntax.ts';

/** Facts of a head that tell where its message ends. */
export interface Framing {
  readonly contentLength: number | undefined;
  readonly isChunked: boolean;
}

export interface RequestHead extends Framing {
  readonly method: string;
  /** Printable ASCII, without the query: that may hold secrets of visitors. */
  readonly path: string;
}

export interface ResponseHead extends Framing {
  readonly status: number;
}

/** HTTP/2 begins like a request, but is none. */
const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([\x21-\x7e]+) HTTP\/1\.[01]$/;
const statusLine = /^HTTP\/1\.[01] ([1-9][0-9]{2})(?: |$)/;

/** Reads the head of a request, in Latin-1 and without the empty line; undefined if it is none. */
export function readRequestHead(text: string): RequestHead | undefined {
  const lines = text.split('\r\n');
  const [, method, target] = requestLine.exec(lines[0] ?? '') ?? [];
  const framing = readFraming(lines);
  if (method === undefined || target === undefined || framing === undefined) return undefined;
  const [path = target] = target.split(/[?#]/, 1);
  return { method, path, ...framing };
}

export function readResponseHead(text: string): ResponseHead | undefined {
  const lines = text.split('\r\n');
  const [, status] = statusLine.exec(lines[0] ?? '') ?? [];
  const framing = readFraming(lines);
  return status === undefined || framing === undefined ? undefined : { status: Number(status), ...framing };
}

function readFraming(lines: readonly string[]): Framing | undefined {
  let contentLength: number | undefined;
  let isChunked = false;
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) return undefined;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'transfer-encoding') isChunked = listTokens(value).at(-1) === 'chunked';
    if (name !== 'content-length') continue;
    if (!/^[0-9]{1,15}$/.test(value)) return undefined;
    contentLength = Number(value);
  }
  return { contentLength, isChunked };
}
