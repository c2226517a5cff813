import { keepPairs } from '../../../lib/header-list.ts';
import { hopByHopHeaders, listTokens } from '../../../lib/http-syntax.ts';
import { MalformedMessage, parseFields } from '../framing/fields.ts';

/** The head of an upstream's answer, checked. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Name, value, name, value, … as sent, without those that belong to the connection or frame the body. */
  readonly headers: readonly string[];
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  /** The upstream keeps the connection open after this answer. */
  readonly keepAlive: boolean;
  /** Time that the upstream promises to keep it open, if it does. */
  readonly keepAliveMs: number | undefined;
  /** The value of `Upgrade`, which counts only where `Connection` names it; it stays with the connection. */
  readonly upgrade: string | undefined;
}

const statusLine = /^HTTP\/1\.([01]) ([1-5][0-9]{2})(?: ([\t \x21-\x7e\x80-\xff]*))?$/;
/** Some readers do not take a tab for blank space there, and so see another length or coding. */
const tabInFraming = /^(?:content-length|transfer-encoding):.*\t/im;
const digits = /^[0-9]{1,15}$/;
const keepAliveTimeout = /(?:^|[,\s])timeout=([0-9]{1,6})(?:$|[,\s])/i;

/** `text` is the head up to the empty line, in Latin-1. */
export function parseResponseHead(text: string): ResponseHead {
  const lineEnd = text.indexOf('\r\n');
  const match = statusLine.exec(lineEnd < 0 ? text : text.slice(0, lineEnd));
  if (match === null) throw new MalformedMessage('malformed status line');
  const fields = lineEnd < 0 ? [] : parseFields(text, lineEnd + 2);
  if (text.includes('\t') && tabInFraming.test(text))
    throw new MalformedMessage('tab in a header that frames the body');
  return assemble(Number(match[2]), match[3] ?? '', match[1] === '1', fields);
}

const framingLengths: ReadonlySet<number> = new Set(['content-length', ...hopByHopHeaders].map((name) => name.length));

interface Framing {
  contentLength: number | undefined;
  chunked: boolean;
  /** Lower case. */
  connection: string[];
  keepAliveMs: number | undefined;
  upgrade: string | undefined;
}

function assemble(status: number, reason: string, isHttp11: boolean, fields: readonly string[]): ResponseHead {
  const framing: Framing = {
    contentLength: undefined,
    chunked: false,
    connection: [],
    keepAliveMs: undefined,
    upgrade: undefined,
  };
  const kept: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const value = fields[at + 1] ?? '';
    // Comparing lengths first spares most headers the look-up.
    if (!framingLengths.has(name.length) || !readFraming(framing, name.toLowerCase(), value)) kept.push(name, value);
  }
  const { contentLength, chunked, connection, keepAliveMs } = framing;
  if (chunked && contentLength !== undefined) throw new MalformedMessage('both Content-Length and Transfer-Encoding');
  if (chunked && !isHttp11) throw new MalformedMessage('Transfer-Encoding in HTTP/1.0');
  if (chunked && (status < 200 || status === 204)) throw new MalformedMessage('Transfer-Encoding where no body can be');
  const keepAlive = !connection.includes('close') && (isHttp11 || connection.includes('keep-alive'));
  const headers = withoutNamed(kept, connection);
  const upgrade = connection.includes('upgrade') ? framing.upgrade : undefined;
  return { status, reason, headers, contentLength, chunked, keepAlive, keepAliveMs, upgrade };
}

/** Reads a header that frames the body or belongs to the connection. Returns false for one that goes on to the client. */
function readFraming(framing: Framing, name: string, value: string): boolean {
  switch (name) {
    case 'content-length':
      if (framing.contentLength !== undefined || !digits.test(value))
        throw new MalformedMessage('ambiguous Content-Length');
      framing.contentLength = Number(value);
      return true;
    case 'transfer-encoding':
      if (framing.chunked || value.toLowerCase() !== 'chunked') throw new MalformedMessage('unknown Transfer-Encoding');
      framing.chunked = true;
      return true;
    case 'connection':
      // Nearly all say one of these.
      if (value === 'keep-alive' || value === 'close') framing.connection.push(value);
      else framing.connection.push(...listTokens(value));
      return true;
    case 'keep-alive': {
      const seconds = keepAliveTimeout.exec(value)?.[1];
      if (seconds !== undefined) framing.keepAliveMs = Number(seconds) * 1000;
      return true;
    }
    case 'upgrade':
      framing.upgrade = value;
      return true;
    default:
      return hopByHopHeaders.has(name);
  }
}

const connectionOptions: ReadonlySet<string> = new Set(['close', 'keep-alive', 'upgrade']);

function withoutNamed(fields: readonly string[], connection: readonly string[]): readonly string[] {
  if (connection.every((option) => connectionOptions.has(option))) return fields;
  // A set: an answer may name thousands beside hundreds of headers.
  const named = new Set(connection).difference(connectionOptions);
  return keepPairs(fields, (name) => !named.has(name.toLowerCase()));
}
