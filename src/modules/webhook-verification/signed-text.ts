import { createHash } from 'node:crypto';

import { headerValues } from '../../lib/header-list.ts';
import { addTo } from '../../lib/lists-by-key.ts';
import type { HeaderList } from '../step.ts';

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** URL of the request as visitors write it: with and without the port that goes without saying. */
  readonly urls: readonly string[];
  /** As the client sent them. */
  readonly headers: HeaderList;
}

export interface WholeRequest extends RequestHead {
  readonly body: Buffer;
}

/** Parts of which a piece of a signed text may be made. */
export interface SignedFacts {
  readonly request: WholeRequest;
  /** The form of its URL that is tried. */
  readonly url: string;
  readonly secret: string;
  /** As it was sent. */
  readonly time: string;
  /** Pairs of the signature's header. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** Undefined: the request has nothing to make it of, and cannot be right. */
type Piece = (facts: SignedFacts, argument: string) => Buffer | string | undefined;

/** Most parameters of a form: sorting very many would hold up everybody else. */
const mostParameters = 1000;

/** Strings are Latin-1, as headers are; what was decoded comes as UTF-8 bytes. */
const pieces: Readonly<Record<string, Piece>> = {
  body: ({ request }) => request.body,
  time: ({ time }) => time,
  secret: ({ secret }) => Buffer.from(secret),
  method: ({ request }) => request.method,
  url: ({ url }) => url,
  bareUrl: ({ url }) => withoutQuery(url),
  path: ({ url }) => pathOf(url),
  // With a "." in it, it could take in the time that follows it.
  id: ({ request }, name) => formed(/^[^.]+$/, only(headerValues(request.headers, name))),
  // With other characters, it could take in the end of the URL before it.
  nonce: ({ request }, name) => formed(/^[A-Za-z0-9]+$/, only(headerValues(request.headers, name))),
  field: ({ fields }, name) => only(fields.get(name) ?? []),
  jsonBody: ({ request }) => Buffer.from(JSON.stringify(request.body.toString('utf8'))),
  form: ({ request }) => joinForm(formOf(request)),
  twilioUrl,
  plivoUrl,
  hubspotUrl: ({ url }) => hubspotUrl(url),
  contentfulHeaders,
  mailgunToken: ({ request }) => bodyValue(request, 'signature.token'),
};

type Part = Buffer | readonly [piece: Piece, argument: string];

/** Reads a text such as `v0:{time}:{body}`; it is made once for each route. */
export function compileSigned(template: string): (facts: SignedFacts) => readonly Buffer[] | undefined {
  const parts = template.split(/(\{[a-zA-Z]+(?::[a-z0-9-]+)?\})/).flatMap((text): Part[] => {
    if (text === '') return [];
    const [, name, argument = ''] = /^\{([a-zA-Z]+)(?::([a-z0-9-]+))?\}$/.exec(text) ?? [];
    if (name === undefined) return [Buffer.from(text)];
    const piece = pieces[name];
    if (piece === undefined) throw new Error(`unknown piece ${text} of a signed text`);
    return [[piece, argument]];
  });
  return (facts) => {
    const made: Buffer[] = [];
    for (const part of parts) {
      if (Buffer.isBuffer(part)) {
        made.push(part);
        continue;
      }
      const [piece, argument] = part;
      const value = piece(facts, argument);
      if (value === undefined) return undefined;
      made.push(typeof value === 'string' ? Buffer.from(value, 'latin1') : value);
    }
    return made;
  };
}

function only(values: readonly string[]): string | undefined {
  return values.length === 1 ? values[0] : undefined;
}

function formed(form: RegExp, value: string | undefined): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined;
}

function withoutQuery(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('//') + 2));
}

/** Values by name; undefined where the body is no form, or has too many. */
function formOf({ headers, body }: WholeRequest): ReadonlyMap<string, readonly string[]> | undefined {
  // Two of them are read by nobody in the same way.
  const type = only(headerValues(headers, 'content-type')) ?? '';
  if (!/^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i.test(type)) return undefined;
  return parseForm(body.toString('utf8'));
}

function parseForm(text: string): ReadonlyMap<string, readonly string[]> | undefined {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1))
    if (++count > mostParameters) return undefined;
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) addTo(values, name, value);
  return values;
}

function byName(
  form: ReadonlyMap<string, readonly string[]>,
): readonly (readonly [name: string, values: readonly string[]])[] {
  return [...form].toSorted(([a], [b]) => compare(a, b)).map(([name, values]) => [name, values.toSorted(compare)]);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function joinForm(form: ReadonlyMap<string, readonly string[]> | undefined): Buffer | undefined {
  if (form === undefined) return undefined;
  const text = byName(form).flatMap(([name, values]) => values.map((value) => name + value));
  return Buffer.from(text.join(''));
}

/** The URL, which holds a digest of the body; where it does not, the URL and the form. */
function twilioUrl({ request, url }: SignedFacts): Buffer | undefined {
  const signedUrl = Buffer.from(url, 'latin1');
  const [digest, ...more] = new URLSearchParams(queryOf(url)).getAll('bodySHA256');
  if (digest !== undefined) {
    const isWhole = digest.toLowerCase() === createHash('sha256').update(request.body).digest('hex');
    return isWhole && more.length === 0 ? signedUrl : undefined;
  }
  if (request.body.length === 0) return signedUrl;
  const form = formOf(request);
  if (form === undefined) return undefined;
  const distinct = new Map([...form].map(([name, values]) => [name, [...new Set(values)]]));
  return Buffer.concat([signedUrl, joinForm(distinct) ?? Buffer.alloc(0)]);
}

/** The URL with its query sorted, then the form. */
function plivoUrl({ request, url }: SignedFacts): Buffer | undefined {
  const form = request.body.length === 0 ? new Map<string, readonly string[]>() : formOf(request);
  const query = parseForm(queryOf(url));
  if (form === undefined || query === undefined) return undefined;
  const sorted = byName(query)
    .flatMap(([name, values]) => values.map((value) => `${name}=${value}`))
    .join('&');
  let text = withoutQuery(url);
  if (sorted !== '' || form.size > 0) text += `?${sorted}`;
  if (sorted !== '' && form.size > 0) text += '.';
  return Buffer.concat([Buffer.from(text), joinForm(form) ?? Buffer.alloc(0)]);
}

const hubspotDecoded = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

function hubspotUrl(url: string): string {
  return url.replaceAll(hubspotDecoded, (encoded) => decodeURIComponent(encoded));
}

/** The headers that the request lists as signed. The time must be among them, or anybody could set it. */
function contentfulHeaders({ request }: SignedFacts): string | undefined {
  const listed = only(headerValues(request.headers, 'x-contentful-signed-headers'));
  const names = (listed ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .toSorted(compare);
  if (!names.includes('x-contentful-timestamp')) return undefined;
  const lines: string[] = [];
  for (const name of names) {
    const value = only(headerValues(request.headers, name));
    if (value === undefined) return undefined;
    lines.push(`${name}:${value.trim()}`);
  }
  return lines.join(';');
}

/** A text or number in a JSON body, or the field of a form that has the last name. */
export function bodyValue(request: WholeRequest, path: string): string | undefined {
  const form = formOf(request);
  return form === undefined ? jsonValue(request, path) : only(form.get(path.split('.').at(-1) ?? '') ?? []);
}

/** A text or number in a JSON body, whatever its type is said to be: the sender of a recorded one could say another. */
export function jsonValue({ body }: WholeRequest, path: string): string | undefined {
  try {
    let value: unknown = JSON.parse(body.toString('utf8'));
    for (const name of path.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  } catch {
    return undefined;
  }
}
