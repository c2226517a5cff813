import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { findExpressions } from './support/regular-expressions.ts';
import type { FoundExpression } from './support/regular-expressions.ts';
import { readRootFile, sourceFiles } from './support/source-files.ts';

/** Verdicts by expression, as it is written between slashes, with its flags. */
interface Known {
  /** Found linear: `automaton` is a proof; `fuzz` stands where repetitions with a number make an automaton too large. */
  readonly linear: Readonly<Record<string, string>>;
  /** Not found linear, and the reason why it may stay. */
  readonly allowed: Readonly<Record<string, string>>;
  /** Put together when the program runs, by its code: all that it becomes. */
  readonly built: Readonly<Record<string, readonly string[]>>;
}

interface Checker {
  checkSync(
    source: string,
    flags: string,
    options: { readonly timeout: number },
  ): { readonly status: string; readonly attack?: { readonly pattern: string } };
}

const knownFile = 'test/contract/regular-expressions.json';
// The type is that of the file.
const known = JSON.parse(readRootFile(knownFile)) as Known;
const folders = ['src', 'client/src', 'dashboard/src', 'tools'];
const found = folders.flatMap((folder) =>
  sourceFiles(folder).flatMap(({ path }) => findExpressions(path, readRootFile(path))),
);

test('every regular expression takes time in proportion to its text', () => {
  assert.ok(found.length > 300, `found only ${found.length}`);
  const faults = found.flatMap((expression) =>
    textsOf(expression).flatMap((text) => {
      if (Object.hasOwn(known.linear, text) || Object.hasOwn(known.allowed, text)) return [];
      const attack = findAttack(text);
      return attack === undefined ? [] : [`${expression.place}: ${text} is not linear: ${attack}`];
    }),
  );
  assert.deepEqual(faults, [], `write it otherwise; a verdict that takes long belongs into ${knownFile}`);
});

test('what is put together when the program runs is listed with all that it becomes', () => {
  const missing = found.filter(({ source, code }) => source === undefined && !Object.hasOwn(known.built, code));
  assert.deepEqual(
    missing.map(({ place, code }) => `${place}: ${code}`),
    [],
    `write it without variables, or add it to "built" in ${knownFile}`,
  );
});

test('nothing is allowed that is not there any more', () => {
  const texts = new Set(found.flatMap(textsOf));
  const codes = new Set(found.map(({ code }) => code));
  assert.deepEqual(
    Object.keys(known.allowed).filter((text) => !texts.has(text)),
    [],
  );
  assert.deepEqual(
    Object.keys(known.built).filter((code) => !codes.has(code)),
    [],
  );
  for (const reason of Object.values(known.allowed)) assert.ok(reason.length > 20, reason);
});

test('expressions are found wherever they stand, and nothing that only looks like one', () => {
  const code = [
    'const a = /x\\/[/"]+/gi, b = 4 / 2 / 1; // /no/',
    'const c = `${/in a template/u.source} /no/`;',
    'const d = new RegExp("\\\\d+", "m"), e = RegExp(`y`), f = new RegExp(`^${b}$`), g = new RegExp(a);',
    'const h = { pattern: "^z+$", other: "^no$" }, i = text.match("w+"), j = list.search(a);',
    'type T = { pattern: string }; const k = <T>(value: T) => value as unknown;',
  ].join('\n');
  assert.deepEqual(
    findExpressions('a.ts', code).map(({ place, source, flags }) => [place, source, flags]),
    [
      ['a.ts:1', 'x\\/[/"]+', 'gi'],
      ['a.ts:2', 'in a template', 'u'],
      ['a.ts:3', '\\d+', 'm'],
      ['a.ts:3', 'y', ''],
      ['a.ts:3', undefined, ''],
      ['a.ts:3', undefined, ''],
      ['a.ts:4', '^z+$', 'u'],
      ['a.ts:4', 'w+', ''],
    ],
  );
});

test('an expression that is quadratic, or worse, is found out', () => {
  for (const text of ['/^(a+)+$/', '/\\s+$/', '/"scope":\\s*\\[([^\\]]*)\\]/'])
    assert.notEqual(findAttack(text), undefined, text);
  assert.equal(findAttack('/^[a-z]+$/'), undefined);
});

function textsOf({ source, flags, code }: FoundExpression): readonly string[] {
  return source === undefined ? (known.built[code] ?? []) : [`/${source}/${flags}`];
}

/** A text that costs too much, in words; undefined where there is none. */
function findAttack(text: string): string | undefined {
  const end = text.lastIndexOf('/');
  // Loaded only where an expression is new. Its other entry would look for programs of the machine.
  const checker = createRequire(import.meta.url)('recheck/lib/browser.js') as Checker;
  const flags = text.slice(end + 1).replaceAll(/[dv]/g, '');
  const { status, attack } = checker.checkSync(text.slice(1, end), flags, { timeout: 500_000 });
  return status === 'safe' ? undefined : (attack?.pattern ?? status);
}
