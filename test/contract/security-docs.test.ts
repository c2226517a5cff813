import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';

import { readRootFile } from './support/source-files.ts';

const page = 'docs/security.md';

interface Row {
  readonly name: string;
  readonly held: string;
  /** Each `path › name of a test`. */
  readonly tests: readonly string[];
}

const rows = readTable(readRootFile(page));

test('every class of faults says how it is held, and names tests', () => {
  assert.ok(rows.length > 15, `found only ${rows.length} rows in ${page}`);
  assert.deepEqual(
    rows.filter(({ name, held, tests }) => name === '' || held === '' || tests.length === 0),
    [],
  );
});

test('every test that the table names exists, under that name', () => {
  const missing = rows.flatMap(({ name, tests }) => tests.flatMap((text) => (isThere(text) ? [] : `${name}: ${text}`)));
  assert.deepEqual(missing, [], `correct ${page}`);
});

test('a test that is not there is found missing', () => {
  const here = '`test/contract/security-docs.test.ts` › ';
  assert.ok(isThere(`${here}a test that is not there is found missing`));
  for (const text of [
    `${here}a test that is not`,
    '`test/contract/no-such.test.ts` › a test that is not there is found missing',
    'no form at all',
  ]) {
    assert.ok(!isThere(text), text);
  }
});

/** Reads the rows under the header `| class | how it is held | tests |`. */
function readTable(text: string): readonly Row[] {
  const [, body = ''] = text.split(/^\| class \| how it is held \| tests \|\n\|[-|]+\|\n/m);
  const lines = body.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end < 0 ? undefined : end).map((line) => {
    const [, name = '', held = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    return { name, held, tests: tests.split('<br>').filter((each) => each !== '') };
  });
}

function isThere(text: string): boolean {
  const [, path = '', name = ''] = /^`([\w/.-]+)` › (.+)$/.exec(text) ?? [];
  if (path === '' || !existsSync(new URL(`../../${path}`, import.meta.url))) return false;
  return testNames(readRootFile(path)).has(name);
}

/** Names of tests as they stand in the source, also in tables of cases; those that are put together keep their `${…}`. */
function testNames(source: string): ReadonlySet<string> {
  const found = source.matchAll(/(?:\btest\(|^ +name:)\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm);
  return new Set([...found].map(([, , name = '']) => name.replaceAll(/\\(.)/g, '$1')));
}
