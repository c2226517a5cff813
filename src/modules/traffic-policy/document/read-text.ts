import { Composer, isScalar, LineCounter, Parser, visit } from 'yaml';
import type { Document, YAMLError } from 'yaml';

import { quote, UserError } from '../../../errors/user-error.ts';
import type { Steps } from '../../../lib/steps.ts';
import { tooLong, unreadablePolicy } from '../errors.ts';
import { uniqueJsonSteps } from './unique-json.ts';

/** Longest text of a policy: one of a thousand rules has some 200 kB. */
const longestJson = 262_144;
/** Reading YAML takes a hundred times as long, and goes by the number of its lines, keys, items and other parts. */
const longestYaml = 8_192;
const mostParts = 700;
const part = /[,[\]{}\n]|[-?:#](?=[ \t\r\n]|$)|[&*!|>](?=\S)/g;
const mostAliases = 20;

/** Reads the text of a policy, JSON or YAML. Throws `UserError`. */
export function* documentSteps(text: string): Steps<unknown> {
  checkLength(text, longestJson, 'Divide the policy, or name ranges of addresses in an IP policy.');
  if (/^\s*\{/.test(text)) {
    const read = yield* uniqueJsonSteps(text);
    // Of a key that stands twice in an object only the last one is left.
    if (read?.isUnique === false)
      throw new UserError(unreadablePolicy, {
        reason: 'one of its objects has the same key twice. Give each key once',
      });
    if (read !== undefined) return read.value;
  }
  checkLength(text, longestYaml, `Write it as JSON, which may have ${longestJson} bytes.`);
  return yield* readYaml(text);
}

function checkLength(text: string, limit: number, remedy: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limit)
    throw new UserError(tooLong, { path: 'its whole text', length: `${bytes} bytes`, limit: `${limit} bytes`, remedy });
}

function* readYaml(text: string): Steps<unknown> {
  const count = text.match(part)?.length ?? 0;
  if (count > mostParts)
    throw unreadable(
      `it has ${count} lines, keys, items and brackets, where ${mostParts} are allowed. Write it as JSON`,
    );
  const { document, fault } = yield* yamlSteps(text);
  if (fault !== undefined) throw unreadable(fault);
  yield;
  if (hasKeyTwice(document)) throw unreadable('keys of a map must be unique, and one has the same key twice');
  yield;
  try {
    return document.toJS({ maxAliasCount: mostAliases }) as unknown;
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

interface ReadYaml {
  readonly document: Document;
  /** What is wrong with it, and where. */
  readonly fault: string | undefined;
}

/** Parses YAML whose length has been checked, as `parseDocument` of the library does, in steps. */
export function* yamlSteps(text: string): Steps<ReadYaml> {
  const lines = new LineCounter();
  const tokens = withoutStacks(() => [...new Parser(lines.addNewLine).parse(text)]);
  yield;
  // The library would compare each key with all others.
  const composer = new Composer({ uniqueKeys: false, strict: true });
  const [document, another] = withoutStacks(() => [...composer.compose(tokens, true, text.length)]);
  if (document === undefined) throw new Error('the composer has made no document');
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) return { document, fault: describe(fault, lines) };
  return { document, fault: another === undefined ? undefined : 'it has several documents; give one' };
}

function describe({ message, pos: [at] }: YAMLError, lines: LineCounter): string {
  if (at < 0) return message;
  const { line, col } = lines.linePos(at);
  return `${message} at line ${line}, column ${col}`;
}

/** Every character of a text may be a fault of its own, of which the first one is told. */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
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
