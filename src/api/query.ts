import { quote, UserError } from '../errors/user-error.ts';
import { hasPrefix } from '../lib/ids.ts';
import type { Page } from '../store/table.ts';

const maxLimit = 100;
export const firstPage: Page = { beforeId: undefined, limit: maxLimit };

/** Names by which a parameter may come; one official client writes `beforeId`. */
const pageNames = new Map([
  ['limit', 'limit'],
  ['before_id', 'before_id'],
  ['beforeId', 'before_id'],
]);

/** `prefix` is that of the listed ids; undefined where the call takes no query at all. */
export function readQuery(text: string, prefix: string | undefined): Page {
  if (text === '') return firstPage;
  const values = new Map<string, string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const given = decode(at < 0 ? part : part.slice(0, at));
    const name = prefix === undefined ? undefined : pageNames.get(given);
    if (name === undefined) throw unknownParameter(given, prefix);
    if (values.has(name)) throw new UserError(232, { name: quote(given) });
    values.set(name, at < 0 ? '' : decode(part.slice(at + 1)));
  }
  return { limit: readLimit(values.get('limit')), beforeId: readBeforeId(values.get('before_id'), prefix ?? '') };
}

/** The query of the page after the one that ended with `lastId`; keys in alphabetical order. */
export function nextPageQuery(lastId: string, { limit }: Page): string {
  return `?before_id=${encodeURIComponent(lastId)}&limit=${limit}`;
}

function unknownParameter(name: string, prefix: string | undefined): UserError {
  return new UserError(231, { name: quote(name), known: prefix === undefined ? 'none' : 'before_id, limit' });
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return maxLimit;
  if (!/^[+-]?\d+$/.test(text)) throw new UserError(244, { limit: quote(text) });
  const limit = Number(text);
  if (limit < 1 || limit > maxLimit) throw new UserError(233, { limit: quote(text) });
  return limit;
}

function readBeforeId(text: string | undefined, prefix: string): string | undefined {
  if (text === undefined) return undefined;
  if (!hasPrefix(text, prefix)) throw new UserError(227, { field: 'before_id', id: quote(text), prefix });
  return text;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new UserError(230, { reason: `${quote(text)} is not percent-encoded UTF-8` });
  }
}
