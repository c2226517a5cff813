import { isScalar, parseDocument, visit } from 'yaml';
import type { Document } from 'yaml';

import { quote, UserError } from '../../../errors/user-error.ts';
import { tooLong, unreadablePolicy } from '../errors.ts';
import { parseUniqueJson } from './unique-json.ts';

/** Longest text of a policy: one of a thousand rules has some 200 kB. */
const longestJson = 262_144;
/** Reading YAML takes a hundred times as long, and goes by the number of its lines, keys, items and other parts. */
const longestYaml = 8_192;
const mostParts = 700;
const part = /[,[\]{}\n]|[-?:#](?=[ \t\r\n]|$)|[&*!|>](?=\S)/g;
const mostAliases = 20;

/** Reads the text of a policy, JSON or YAML. Throws `UserError`. */
export function readDocument(text: string): unknown {
  checkLength(text, longestJson, 'Divide the policy, or name ranges of addresses in an IP policy.');
  if (/^\s*\{/.test(text)) {
    const read = readJson(text);
    if (read !== undefined) return read.value;
  }
  checkLength(text, longestYaml, `Write it as JSON, which may have ${longestJson} bytes.`);
  return readYaml(text);
}

function checkLength(text: string, limit: number, remedy: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limit)
    throw new UserError(tooLong, { path: 'its whole text', length: `${bytes} bytes`, limit: `${limit} bytes`, remedy });
}

/** Undefined: it is no JSON, and may be YAML. */
function readJson(text: string): { readonly value: unknown } | undefined {
  const read = parseUniqueJson(text);
  // Of a key that stands twice in an object only the last one is left.
  if (read?.isUnique === false)
    throw new UserError(unreadablePolicy, { reason: 'one of its objects has the same key twice. Give each key once' });
  return read;
}

function readYaml(text: string): unknown {
  const count = text.match(part)?.length ?? 0;
  if (count > mostParts)
    throw unreadable(
      `it has ${count} lines, keys, items and brackets, where ${mostParts} are allowed. Write it as JSON`,
    );
  const document = parseYaml(text);
  const [fault = document.warnings[0]] = document.errors;
  if (fault !== undefined) throw unreadable(fault.message);
  if (hasKeyTwice(document)) throw unreadable('keys of a map must be unique, and one has the same key twice');
  try {
    return document.toJS({ maxAliasCount: mostAliases }) as unknown;
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

/** Parses YAML whose length has been checked. */
export function parseYaml(text: string): Document {
  const { stackTraceLimit } = Error;
  // Every character of a text may be a fault of its own, of which the first one is told.
  Error.stackTraceLimit = 0;
  try {
    // The library would compare each key with all others.
    return parseDocument(text, { uniqueKeys: false, strict: true, prettyErrors: true });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function hasKeyTwice(document: Document): boolean {
  let isTwice = false;
  visit(document, {
    Map(_, { items }) {
      const keys = new Set(items.map(({ key }) => String(isScalar(key) ? key.value : key)));
      isTwice ||= keys.size < items.length;
    },
  });
  return isTwice;
}

function unreadable(message: string): UserError {
  const [line = ''] = message.split('\n');
  const remedy = /tag/i.test(line) ? '. Put an expression that begins with "!" in quotes' : '';
  return new UserError(unreadablePolicy, { reason: `it is neither JSON nor YAML: ${quote(line)}${remedy}` });
}
