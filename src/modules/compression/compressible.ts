import { listTokens } from '../../lib/http-syntax.ts';
import type { Answering, HeaderList } from '../step.ts';

/** Shorter bodies gain little, and may even grow. */
const shortestBytes = 1024;

const textLikeTypes: ReadonlySet<string> = new Set([
  'application/ecmascript',
  'application/javascript',
  'application/json',
  'application/rtf',
  'application/sql',
  'application/toml',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/x-httpd-php',
  'application/x-javascript',
  'application/x-ndjson',
  'application/x-sh',
  'application/x-yaml',
  'application/xml',
  'application/xml-dtd',
  'application/yaml',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/vnd.microsoft.icon',
  'image/x-icon',
]);

/** Digests of the bytes as they are (RFC 9530 and before): any coding would make them wrong. */
const digests: readonly string[] = ['content-md5', 'digest', 'content-digest', 'repr-digest'];
/** Statuses of answers that have no body, or only a part of one. */
const statusesWithout: ReadonlySet<number> = new Set([204, 205, 206, 304]);

/** Headers by lower-case name; those that repeat are joined to one list. */
export function readHeaders(headers: HeaderList): ReadonlyMap<string, string> {
  const byName = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] ?? '').toLowerCase();
    const value = headers[at + 1] ?? '';
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return byName;
}

/** True if a response would be encoded for a client that accepts it. */
export function isCompressible(
  { status, contentLength }: Readonly<Pick<Answering, 'status' | 'contentLength'>>,
  headers: ReadonlyMap<string, string>,
): boolean {
  if (statusesWithout.has(status) || (contentLength !== undefined && contentLength < shortestBytes)) return false;
  if (!isTextLike(headers.get('content-type') ?? '')) return false;
  if (listTokens(headers.get('content-encoding') ?? '').some((coding) => coding !== 'identity')) return false;
  if (headers.has('content-range') || digests.some((name) => headers.has(name))) return false;
  return !forbidsTransform(headers.get('cache-control'));
}

/** RFC 9111, 5.2.1.6 and 5.2.2.6: a request may ask for it, and a response may demand it. */
export function forbidsTransform(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && listTokens(cacheControl).includes('no-transform');
}

function isTextLike(contentType: string): boolean {
  const [type = ''] = contentType.split(';', 1);
  const name = type.trim().toLowerCase();
  // Streams of events and calls are made of small messages that must not wait for each other, often framed by bytes.
  if (name === 'text/event-stream' || name.startsWith('application/grpc')) return false;
  return name.startsWith('text/') || name.endsWith('+json') || name.endsWith('+xml') || textLikeTypes.has(name);
}
