import { keepPairs } from '../../lib/header-list.ts';
import { listTokens } from '../../lib/http-syntax.ts';
import { chained } from '../answer-body.ts';
import type { Answering, HeaderList } from '../step.ts';
import { chooseCoding } from './accept-encoding.ts';
import type { Coding } from './accept-encoding.ts';
import { forbidsTransform, isCompressible, readHeaders } from './compressible.ts';
import { offeredCodings, openEncoder } from './encoders.ts';

type RequestFacts = Answering['request'] & Pick<Answering, 'mayEncode'>;
type ResponseFacts = Readonly<Pick<Answering, 'status' | 'headers' | 'contentLength'>>;

interface EncodedResponse {
  /** All headers of the response. */
  readonly headers: HeaderList;
  /** Undefined: the body passes unchanged. */
  readonly openTransform?: Answering['openTransform'];
}

/** Has an answer encoded for a client that accepts it, in one of the codings. */
export function encodeAnswer(answer: Answering, codings: readonly Coding[] = offeredCodings): undefined {
  if (!answer.isEncodable) return;
  const { request, mayEncode, status } = answer;
  const { method, headers } = request;
  const encoded = encodeResponse({ method, headers, mayEncode }, answer, codings);
  if (encoded === undefined) return;
  answer.headers = encoded.headers;
  const { openTransform: encoder } = encoded;
  if (encoder !== undefined) answer.openTransform = chained(answer.openTransform, encoder);
  // A 304 would announce the length of the body as it was before it was encoded.
  if (encoded.openTransform !== undefined || status === 304) answer.contentLength = undefined;
}

/** Undefined: the response has nothing to do with compression. */
export function encodeResponse(
  request: RequestFacts,
  response: ResponseFacts,
  codings: readonly Coding[] = offeredCodings,
): EncodedResponse | undefined {
  const headers = readHeaders(response.headers);
  if (response.status === 304) return encodeNotModified(request, response, headers);
  if (!isCompressible(response, headers)) return undefined;
  const asked = readHeaders(request.headers);
  const coding = chooseCoding(asked.get('accept-encoding'), codings);
  // Another client may get the same response encoded, and caches must know.
  const varied = withVary(response.headers, headers);
  if (coding === undefined || forbidsTransform(asked.get('cache-control')) || !request.mayEncode()) {
    return { headers: varied };
  }
  return { headers: encodedHeaders(varied, coding), openTransform: () => openEncoder(coding) };
}

/** A 304 must carry the tag that the client got with the encoded body (RFC 9110, 15.4.5). */
function encodeNotModified(
  request: RequestFacts,
  response: ResponseFacts,
  headers: ReadonlyMap<string, string>,
): EncodedResponse | undefined {
  const tag = headers.get('etag');
  if (tag === undefined || tag.startsWith('W/')) return undefined;
  const known = readHeaders(request.headers).get('if-none-match');
  return known?.includes(`W/${tag}`) === true ? { headers: withVary(weakened(response.headers), headers) } : undefined;
}

/** Headers that are true only of the bytes as the upstream sent them. */
const ofSentBytes: ReadonlySet<string> = new Set(['accept-ranges', 'content-encoding']);

function encodedHeaders(list: HeaderList, coding: Coding): HeaderList {
  const kept = keepPairs(list, (name) => !ofSentBytes.has(name.toLowerCase()));
  return [...weakened(kept), 'Content-Encoding', coding];
}

/** The encoded body is equivalent to the one the tag was made for, but not the same to the byte. */
function weakened(list: HeaderList): HeaderList {
  return mapValues(list, 'etag', (tag) => (tag.startsWith('W/') ? tag : `W/${tag}`));
}

function withVary(list: HeaderList, headers: ReadonlyMap<string, string>): HeaderList {
  const vary = headers.get('vary');
  if (vary === undefined) return [...list, 'Vary', 'Accept-Encoding'];
  const named = listTokens(vary);
  return named.includes('accept-encoding') || named.includes('*')
    ? list
    : [...keepPairs(list, (name) => name.toLowerCase() !== 'vary'), 'Vary', `${vary}, Accept-Encoding`];
}

function mapValues(list: HeaderList, lowerName: string, change: (value: string) => string): HeaderList {
  return list.map((text, at) => (at % 2 === 1 && list[at - 1]?.toLowerCase() === lowerName ? change(text) : text));
}
