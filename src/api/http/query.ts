import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { Page } from '../../store/table.ts';
import {
  limitNotANumber,
  limitOutOfRange,
  queryUnreadable,
  repeatedQueryParameter,
  unknownQueryParameter,
  wrongIdKind,
} from '../errors.ts';

const maxLimit = 100;
/** The expression that the entries of a list must pass; among the filters of a call. */
export const filterName = 'filter';

export interface Query {
  readonly page: Page;
  readonly filters: Readonly<Record<string, string>>;
}

export const noQuery: Query = { page: { beforeId: undefined, limit: maxLimit }, filters: {} };

/** Names by which a parameter may come; one official client writes `beforeId`. */
const pageNames = new Map([
  ['limit', 'limit'],
  ['before_id', 'before_id'],
  ['beforeId', 'before_id'],
]);

/** `prefix` is that of the listed ids; undefined where the call is no list. */
export function readQuery(text: string, prefix: string | undefined, filterNames: readonly string[] = []): Query {
  if (text === '') return noQuery;
  const values = new Map<string, string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const given = decode(at < 0 ? part : part.slice(0, at));
    const name = filterNames.includes(given) ? given : prefix === undefined ? undefined : pageNames.get(given);
    if (name === undefined) throw unknownParameter(given, prefix, filterNames);
    if (values.has(name)) throw new UserError(repeatedQueryParameter, { name: quote(given) });
    values.set(name, at < 0 ? '' : decode(part.slice(at + 1)));
  }
  const page = { limit: readLimit(values.get('limit')), beforeId: readBeforeId(values.get('before_id'), prefix ?? '') };
  return { page, filters: readFilters(values, filterNames) };
}

function readFilters(values: ReadonlyMap<string, string>, names: readonly string[]): Query['filters'] {
  const given = [...values].filter(([name]) => names.includes(name));
  for (const [name, value] of given) {
    // PostgreSQL rejects NUL in any text.
    if (value.includes('\0')) throw new UserError(queryUnreadable, { reason: `${name} holds a NUL character` });
  }
  return Object.fromEntries(given);
}

/** The query of the page after the one that ended with `lastId`; keys in alphabetical order. */
export function nextPageQuery(lastId: string, { limit }: Page, filters: Query['filters'] = {}): string {
  // Neither an id nor a number needs escaping.
  if (Object.keys(filters).length === 0) return `?before_id=${lastId}&limit=${limit}`;
  const all = Object.entries({ before_id: lastId, limit: String(limit), ...filters });
  const sorted = all.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `?${sorted.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

function unknownParameter(name: string, prefix: string | undefined, filterNames: readonly string[]): UserError {
  const known = [...(prefix === undefined ? [] : ['before_id', 'limit']), ...filterNames].toSorted();
  return new UserError(unknownQueryParameter, { name: quote(name), known: known.join(', ') || 'none' });
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return maxLimit;
  if (!/^[+-]?\d+$/.test(text)) throw new UserError(limitNotANumber, { limit: quote(text) });
  const limit = Number(text);
  if (limit < 1 || limit > maxLimit) throw new UserError(limitOutOfRange, { limit: quote(text) });
  return limit;
}

function readBeforeId(text: string | undefined, prefix: string): string | undefined {
  if (text === undefined) return undefined;
  if (!hasPrefix(text, prefix)) throw new UserError(wrongIdKind, { field: 'before_id', id: quote(text), prefix });
  return text;
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new UserError(queryUnreadable, { reason: `${quote(text)} is not percent-encoded UTF-8` });
  }
}
