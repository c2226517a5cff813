import { addTo } from '../../lists-by-key.ts';
import type { Work } from '../environment.ts';
import { checkItems, checkText } from '../operators.ts';
import { mostItems } from '../run.ts';
import { any, bool, bytes, double, int, list, listOf, map, mapOf, string, typeOf } from '../types.ts';
import { asList, CelMap } from '../values.ts';
import type { Value } from '../values.ts';
import { both, method, plainFunction } from './define.ts';
import type { Definition } from './define.ts';
import { digests } from './hashes.ts';
import { fromJson, toJson } from './lists.ts';

/** Longest text that is parsed as JSON: a megabyte takes some 10 ms. */
const longestJson = 131_072;
/** What it costs to find out that a text is no JSON. */
const unitsOfJson = 50;
/** What it costs to write a character as bytes. */
const unitsOfUtf8 = 1 / 4;
/** Longest text that is read as a URL. */
const longestUrl = 16_384;
/** What a digest costs beside its bytes. */
const digestUnits = 60;

function decodeJson(text: string, work: Work<unknown>): Value {
  if (text.length > longestJson) throw work.fault(`JSON of more than ${longestJson} characters is not read`);
  let read: unknown;
  work.budget.spend(unitsOfJson + text.length / 2);
  try {
    read = JSON.parse(text);
  } catch {
    throw work.fault('the text is no JSON');
  }
  return fromJson(read, work);
}

function isJson(text: string, work: Work<unknown>): boolean {
  if (text.length > longestJson) return false;
  work.budget.spend(unitsOfJson + text.length / 2);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function encodeJson(value: Value, work: Work<unknown>): string {
  const text = JSON.stringify(toJson(value, work));
  checkText(text.length, work);
  return text;
}

const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeBase64(text: string, work: Work<unknown>): Buffer {
  checkText(text.length, work);
  work.budget.spend(text.length / 8);
  if (!base64Form.test(text)) throw work.fault('the text is no base64, or its padding with "=" is missing');
  return Buffer.from(text, 'base64');
}

function encodeBase64(given: string | Uint8Array, work: Work<unknown>): string {
  checkText(given.length * 2, work);
  return Buffer.from(given).toString('base64');
}

/** Names and values of a query string, in the form in which requests have them too. */
export function readQuery(text: string, work: Work<unknown>): ReadonlyMap<string, string[]> {
  work.budget.spend(10 + text.length / 4);
  const pairs = new Map<string, string[]>();
  // One more than a map may have is enough to refuse it.
  for (const pair of text === '' ? [] : text.split('&', mostItems + 1)) {
    work.budget.spend(12);
    if (pair === '') continue;
    const mark = pair.indexOf('=');
    const name = unescape(mark < 0 ? pair : pair.slice(0, mark));
    const value = mark < 0 ? '' : unescape(pair.slice(mark + 1));
    if (name === undefined || value === undefined) continue;
    addTo(pairs, name, value);
  }
  return pairs;
}

/** Undefined: its escapes are none. */
function unescape(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function isQueryString(text: string, work: Work<unknown>): boolean {
  work.budget.spend(text.length / 4);
  const pairs = text.split('&', mostItems + 1);
  if (pairs.length > mostItems) return false;
  work.budget.spend(pairs.length * 12);
  return pairs.every((pair) => unescape(pair) !== undefined && !/[\s#]/.test(pair));
}

function encodeQuery(given: CelMap, work: Work<unknown>): string {
  const pairs = Array.from(given.entries()).flatMap(([key, value]) => {
    const values = asList(value) ?? [value];
    work.budget.spend(values.length);
    return values.map((each) => `${escapeUrl(plainText(key, work), work)}=${escapeUrl(plainText(each, work), work)}`);
  });
  const text = pairs.join('&');
  checkText(text.length, work);
  return text;
}

function plainText(value: Value, work: Work<unknown>): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw work.fault(`a query string holds texts and numbers, not a ${typeOf(value)}`);
}

function escapeUrl(text: string, work: Work<unknown>): string {
  work.budget.spend(text.length);
  checkText(text.length * 3, work);
  return encodeURIComponent(text.toWellFormed());
}

function unescapeUrl(text: string, work: Work<unknown>): string {
  work.budget.spend(text.length / 4);
  checkText(text.length, work);
  const read = unescape(text);
  if (read === undefined) throw work.fault('the text has a "%" that begins no escape');
  return read;
}

/** Names with letters of all alphabets take very much longer than others. */
function payForUrl(text: string, { budget }: Work<unknown>): void {
  budget.spend(20 + text.length / 16);
  if (text.length <= longestUrl) budget.spend(/^[\0-\x7f]*$/.test(text) ? text.length / 4 : text.length * 4);
}

function parseUrl(text: string, work: Work<unknown>): CelMap {
  payForUrl(text, work);
  const url = text.length <= longestUrl && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw work.fault('the text is no URL');
  return CelMap.of({
    scheme: url.protocol.slice(0, -1),
    host: url.hostname,
    port: url.port,
    path: url.pathname,
    query: url.search.slice(1),
    fragment: url.hash.slice(1),
    user: url.username,
  });
}

function isUrl(text: string, work: Work<unknown>): boolean {
  payForUrl(text, work);
  return text.length <= longestUrl && /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]/.test(text) && URL.canParse(text);
}

const queryType = mapOf(string, listOf(string));
const urlType = mapOf(string, string);

export const encodingFunctions: readonly Definition[] = [
  plainFunction('base64.encode', [bytes], string, ([given], work) => encodeBase64(given, work)),
  plainFunction('base64.encode', [string], string, ([given], work) => encodeBase64(given, work)),
  plainFunction('base64.decode', [string], bytes, ([text], work) => decodeBase64(text, work)),
  method('encodeBase64', [string], string, ([text], work) => encodeBase64(text, work)),
  method('decodeBase64', [string], string, ([text], work) => {
    const decoded = decodeBase64(text, work);
    const read = decoded.toString();
    if (!Buffer.from(read).equals(decoded)) throw work.fault('what is encoded is no text; use base64.decode(…)');
    return read;
  }),
  plainFunction(
    'basic_auth.encode',
    [string, string],
    string,
    ([user, password], work) => `Basic ${encodeBase64(`${user}:${password}`, work)}`,
  ),
  ...both('json.decode', 'decodeJson', [string], any, ([text], work) => decodeJson(text, work)),
  plainFunction('json.encode', [any], string, ([value], work) => encodeJson(value, work)),
  method('encodeJson', [list], string, ([value], work) => encodeJson(value, work)),
  method('encodeJson', [map], string, ([value], work) => encodeJson(value, work)),
  method('isJson', [string], bool, ([text], work) => isJson(text, work), { isTotal: true }),
  ...both('queryString.decode', 'decodeQueryString', [string], queryType, ([text], work) => {
    const pairs = readQuery(text, work);
    checkItems(pairs.size, work);
    return new CelMap(pairs);
  }),
  ...both('queryString.encode', 'encodeQueryString', [map], string, ([given], work) => encodeQuery(given, work)),
  method('isQueryString', [string], bool, ([text], work) => isQueryString(text, work), { isTotal: true }),
  ...both('url.escape', 'escapeUrl', [string], string, ([text], work) => escapeUrl(text, work)),
  ...both('url.unescape', 'unescapeUrl', [string], string, ([text], work) => unescapeUrl(text, work)),
  ...both('url.parse', 'parseUrl', [string], urlType, ([text], work) => parseUrl(text, work)),
  method('isURL', [string], bool, ([text], work) => isUrl(text, work), { isTotal: true }),
  ...Object.entries(digests).flatMap(([name, { units, of }]) => {
    const digest = (text: string, form: string, work: Work<unknown>): string => {
      work.budget.spend(digestUnits + text.length * (units + unitsOfUtf8));
      if (form !== 'hex' && form !== 'base64') throw work.fault('a digest is written in hex or base64');
      return of(Buffer.from(text)).toString(form);
    };
    const check = {
      check: ([, form]: readonly (Value | undefined)[]) =>
        form === undefined || form === 'hex' || form === 'base64'
          ? undefined
          : 'a digest is written in "hex" or "base64"',
    };
    return [
      ...both(`hash.${name}`, name, [string], string, ([text], work) => digest(text, 'hex', work)),
      ...both(`hash.${name}`, name, [string, string], string, ([text, form], work) => digest(text, form, work), check),
    ];
  }),
  plainFunction('rand.double', [], double, () => Math.random()),
  plainFunction('rand.int', [], int, () => BigInt(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))),
  plainFunction('rand.int', [int, int], int, ([least, most], work) => {
    if (least > most) throw work.fault(`there is no number from ${least} to ${most}`);
    return least + BigInt(Math.floor(Math.random() * Number(most - least + 1n)));
  }),
];
