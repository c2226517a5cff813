import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';

import { finishNow } from '../steps.ts';
import type { Steps } from '../steps.ts';
import { maskJsonSteps } from './mask-json.ts';
import { maskFormSteps, maskMultipartSteps, maskTargetSteps, maskTextSteps } from './mask-text.ts';
import { maskedText } from './mask-values.ts';
import { isSecretName } from './secret-names.ts';

/** Name, value, name, value, … as they were sent. */
type HeaderList = readonly string[];

/** Headers whose values are addresses with a query. */
const addressHeaders: ReadonlySet<string> = new Set([
  'location',
  'content-location',
  'referer',
  'x-original-url',
  'x-rewrite-url',
  'x-forwarded-uri',
]);

/** Headers that say how somebody is to sign in. */
const challenges: ReadonlySet<string> = new Set(['www-authenticate', 'proxy-authenticate']);

/** Names and values of headers that one step masks. */
const headersOfStep = 32;
/** Most bytes that a compressed body may have when it is read. */
const maxDecoded = 256 * 1024;
/** Longest character of UTF-8, less one: the end of a body that was cut may have so many bytes of one. */
const maxCut = 3;

export function maskHeader(name: string, value: string): string {
  return finishNow(maskHeaderSteps(name, value));
}

function* maskHeaderSteps(name: string, value: string): Steps<string> {
  const lower = name.toLowerCase();
  if (challenges.has(lower)) return value;
  if (lower === 'cookie') return value.replaceAll(/[^;]+/g, maskCookie);
  if (lower === 'set-cookie') return value.replace(/^[^;]+/, maskCookie);
  if (lower === 'authorization' || lower === 'proxy-authorization')
    return value.replace(/^([A-Za-z0-9-]{1,32}) .*$|^.*$/s, (_, scheme?: string) =>
      scheme === undefined ? maskedText : `${scheme} ${maskedText}`,
    );
  if (isSecretName(name)) return maskedText;
  return yield* addressHeaders.has(lower) ? maskTargetSteps(value) : maskTextSteps(value);
}

/** A cookie without a name is all value. */
function maskCookie(cookie: string): string {
  const equals = cookie.indexOf('=');
  if (equals >= 0) return `${cookie.slice(0, equals)}=${maskedText}`;
  return cookie.trim() === '' ? cookie : ` ${maskedText}`.slice(cookie.startsWith(' ') ? 0 : 1);
}

export function maskHeaders(headers: HeaderList): string[] {
  return finishNow(maskHeadersSteps(headers));
}

export function* maskHeadersSteps(headers: HeaderList): Steps<string[]> {
  const masked: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (at % headersOfStep === 0) yield;
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    masked.push(name, yield* maskHeaderSteps(name, value));
  }
  return masked;
}

/** Masks the text of a body, by what it says that it is and by what it looks like. */
export function maskBodyText(text: string, contentType: string): string {
  return finishNow(maskBodySteps(text, contentType));
}

export function maskBodySteps(text: string, contentType: string): Steps<string> {
  const start = text.trimStart().slice(0, 1);
  if (/json/i.test(contentType) || start === '{' || start === '[') return maskJsonSteps(text);
  const [, boundary] = /^multipart\/[^;]{1,64};.{0,256}?boundary="?([^";]{1,128})/i.exec(contentType) ?? [];
  if (boundary !== undefined) return maskMultipartSteps(text, boundary);
  if (/x-www-form-urlencoded/i.test(contentType) || /^[\w%.+[\]-]{1,128}=/.test(text)) return maskFormSteps(text);
  return maskTextSteps(text);
}

/**
 * The text of a body, decompressed where it is compressed. Undefined for one that is no text, in which no secret could be
 * found. `isCut`: bytes of its end are missing. No more than `most` bytes are made a text: a few may be many once they are decompressed.
 */
export function bodyText(
  bytes: Buffer,
  contentEncoding: string,
  isCut: boolean,
  most: number,
): { readonly text: string; readonly isWhole: boolean } | undefined {
  const plain = decode(bytes, contentEncoding.trim().toLowerCase());
  if (plain === undefined || plain.includes(0)) return undefined;
  const isWhole = !isCut && plain.length <= most;
  const kept = plain.subarray(0, most);
  for (let cut = 0; cut <= (isWhole ? 0 : Math.min(maxCut, kept.length)); cut++) {
    const part = kept.subarray(0, kept.length - cut);
    if (isUtf8(part)) return { text: part.toString('utf8'), isWhole };
  }
  return undefined;
}

function decode(bytes: Buffer, encoding: string): Buffer | undefined {
  // A body that was cut is decoded as far as it goes.
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxDecoded };
  try {
    if (encoding === '' || encoding === 'identity') return bytes;
    if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(bytes, options);
    if (encoding === 'deflate') return inflateSync(bytes, options);
    const brotli = { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: maxDecoded };
    return encoding === 'br' ? brotliDecompressSync(bytes, brotli) : undefined;
  } catch {
    return undefined;
  }
}
