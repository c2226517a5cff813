import { createHash, createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

import { headerValues } from '../../lib/header-list.ts';
import { addTo } from '../../lib/lists-by-key.ts';
import type { HeaderList } from '../step.ts';
import type { Provider, Signing } from './providers.ts';
import { bodyValue, compileSigned, jsonValue } from './signed-text.ts';
import type { RequestHead, WholeRequest } from './signed-text.ts';

const defaultMaxAgeSeconds = 300;

/** Says why a request is not one of the provider's. */
export interface Verifier {
  /** By the head alone, before the body is read. */
  refusesHead(request: RequestHead): string | undefined;
  refuses(request: WholeRequest, nowMs: number): string | undefined;
}

interface Way extends Signing {
  readonly textOf: ReturnType<typeof compileSigned>;
  /** The key as it signs; undefined where the secret cannot be one for this way. */
  readonly secretKey: Buffer | KeyObject | undefined;
}

/** Throws for a secret that no way of the provider can use. */
export function createVerifier(provider: Provider, secret: string): Verifier {
  const ways = provider.ways
    .filter(({ secretForm: form }) => form?.test(secret) ?? true)
    .map((way): Way => ({ ...way, textOf: compileSigned(way.signed ?? '{body}'), secretKey: keyOf(way, secret) }));
  if (ways.every(({ secretKey }) => secretKey === undefined)) throw new Error(secretForm(provider.ways[0]));
  const find = (headers: HeaderList): Way | undefined => ways.find((way) => isMeant(way, headers));
  return {
    refusesHead(request) {
      const way = find(request.headers);
      return way === undefined ? `it has no header ${headerNames(ways)}` : methodRefusal(way, request);
    },
    refuses(request, nowMs) {
      const way = find(request.headers);
      if (way === undefined) return `it has no header ${headerNames(ways)}`;
      return methodRefusal(way, request) ?? bodyRefusal(way, request) ?? refusal(way, secret, request, nowMs);
    },
  };
}

function methodRefusal({ methods }: Way, { method }: RequestHead): string | undefined {
  if (methods === undefined || methods.includes(method)) return undefined;
  return `its method is ${method}, and webhooks come with ${methods.join(' or ')}`;
}

const blanks = new Set(Buffer.from(' \t\r\n'));

function bodyRefusal({ kind, begins }: Way, { body }: WholeRequest): string | undefined {
  // Whoever has seen a digest can lengthen the text without the secret, by bytes of which some are always 0.
  if (kind === 'hash' && body.includes(0)) return 'its body has a byte 0';
  if (begins === undefined) return undefined;
  const first = body.find((byte) => !blanks.has(byte));
  if (first !== undefined && begins.includes(String.fromCodePoint(first))) return undefined;
  return `its body does not begin with ${begins.join(' or ')}`;
}

function isMeant({ header }: Signing, headers: HeaderList): boolean {
  return header === undefined || valuesOf(headers, header).length > 0;
}

function valuesOf(headers: HeaderList, name: string): readonly string[] {
  if (!name.endsWith('*')) return headerValues(headers, name);
  const start = name.slice(0, -1);
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase().startsWith(start));
}

function headerNames(ways: readonly Signing[]): string {
  return [...new Set(ways.map(({ header = '' }) => header))].join(' or ');
}

function refusal(way: Way, secret: string, request: WholeRequest, nowMs: number): string | undefined {
  const { header, secretKey } = way;
  if (secretKey === undefined) return 'the secret of this route is not for signatures of this kind';
  const values =
    header === undefined ? [bodyValue(request, 'signature.signature') ?? ''] : valuesOf(request.headers, header);
  // Whoever reads the other one could take it for right.
  if (values.length > 1 && header?.endsWith('*') !== true) return `it has the header ${header} more than once`;
  if (way.kind === 'token' || way.kind === 'basic') return tokenRefusal(way, secret, values[0] ?? '');
  const fields = parseFields(way, values[0] ?? '');
  const time = timeOf(way, request, fields);
  const late = way.time === undefined || isInSignedBody(way.time) ? undefined : timeRefusal(way, time, nowMs);
  if (late !== undefined) return late;
  const signatures = signaturesIn(way, values, fields).flatMap((text) => decode(text, way.encoding) ?? []);
  let isRight = false;
  for (const url of new Set(request.urls)) {
    const text = way.textOf({ request, url, secret, time: time ?? '', fields });
    if (text !== undefined && isSigned(way, secretKey, text, signatures)) isRight = true;
  }
  if (!isRight) return 'its signature does not fit';
  // A body is parsed once it is known to be the provider's.
  return isInSignedBody(way.time) ? timeRefusal(way, jsonValue(request, way.time.json), nowMs) : undefined;
}

function isInSignedBody(time: Signing['time']): time is { readonly json: string } {
  return time !== undefined && 'json' in time;
}

/** Compares digests, so that the time tells nothing, not even a length. */
function tokenRefusal({ kind }: Way, secret: string, given: string): string | undefined {
  const wanted = kind === 'basic' ? secret.replace('::', ':') : secret;
  const sent = kind === 'basic' ? Buffer.from(given.replace(/^basic +/i, ''), 'base64') : Buffer.from(given, 'latin1');
  return timingSafeEqual(sha256(sent), sha256(Buffer.from(wanted))) ? undefined : 'its token is not the secret';
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function parseFields({ field }: Way, value: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  if (field === undefined) return fields;
  for (const pair of value.split(',')) {
    const mark = pair.indexOf('=');
    addTo(fields, pair.slice(0, Math.max(0, mark)).trim(), pair.slice(mark + 1).trim());
  }
  return fields;
}

function signaturesIn(
  { field, version, prefix = '' }: Way,
  values: readonly string[],
  fields: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  if (field !== undefined) return fields.get(field) ?? [];
  if (version !== undefined)
    return (values[0] ?? '')
      .split(' ')
      .flatMap((each) => (each.startsWith(`${version},`) ? [each.slice(version.length + 1)] : []));
  return values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .map((value) => (value.startsWith(prefix) ? value.slice(prefix.length) : value));
}

function timeOf(
  { time }: Way,
  request: WholeRequest,
  fields: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  if (time === undefined || 'json' in time) return undefined;
  if ('body' in time) return bodyValue(request, time.body);
  const values = 'header' in time ? headerValues(request.headers, time.header) : (fields.get(time.field) ?? []);
  return values.length === 1 ? values[0] : undefined;
}

function timeRefusal(
  { maxAgeSeconds = defaultMaxAgeSeconds, timeForm = /./ }: Way,
  time: string | undefined,
  nowMs: number,
): string | undefined {
  const sentMs = time === undefined || !timeForm.test(time) ? Number.NaN : readTime(time);
  if (Number.isNaN(sentMs)) return 'it does not say when it was sent';
  const seconds = Math.round((nowMs - sentMs) / 1000);
  if (Math.abs(seconds) <= maxAgeSeconds) return undefined;
  return seconds > 0
    ? `it was sent ${seconds} seconds ago, and ${maxAgeSeconds} are allowed`
    : `it was sent ${-seconds} seconds in the future, and ${maxAgeSeconds} are allowed`;
}

/** Seconds or milliseconds since 1970, or a date, in UTC where it names no zone. */
function readTime(text: string): number {
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?$/.test(text)) return Number.NaN;
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

function decode(text: string, encoding: Signing['encoding'] = 'hex'): Buffer | undefined {
  if (encoding === 'hex') return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function isSigned(
  { kind, algorithm = 'sha256' }: Way,
  key: Buffer | KeyObject,
  text: readonly Buffer[],
  signatures: readonly Buffer[],
): boolean {
  if (kind === 'ecdsa') {
    // Each costs more than a digest, and providers send one.
    const [signature, ...more] = signatures;
    if (signature === undefined || more.length > 0 || Buffer.isBuffer(key)) return false;
    return verifySignature(algorithm, Buffer.concat(text), key, signature);
  }
  const digest = kind === 'hash' ? createHash(algorithm) : createHmac(algorithm, key);
  for (const piece of text) digest.update(piece);
  const wanted = digest.digest();
  let found = false;
  // All are compared, so that the time does not tell which one fits.
  for (const each of signatures) if (each.length === wanted.length && timingSafeEqual(each, wanted)) found = true;
  return found;
}

function keyOf({ kind, key }: Signing, secret: string): Buffer | KeyObject | undefined {
  if (kind === 'ecdsa') return publicKeyOf(secret);
  if (kind === 'basic') return /^[^:]*::/.test(secret) ? Buffer.from(secret) : undefined;
  if (key === undefined) return Buffer.from(secret);
  const bytes = decode(secret.replace(/^whsec_/, ''), 'base64');
  return bytes !== undefined && bytes.length > 0 ? bytes : undefined;
}

function publicKeyOf(secret: string): KeyObject | undefined {
  try {
    const key = secret.includes('-----BEGIN')
      ? createPublicKey(secret)
      : createPublicKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ec' ? key : undefined;
  } catch {
    return undefined;
  }
}

function secretForm({ kind }: Signing = {}): string {
  if (kind === 'ecdsa') return 'it must be the public key for verification that the provider shows';
  if (kind === 'basic') return 'it must be the user name and the password with "::" between them';
  return 'it must be base64, with or without "whsec_" before it';
}
