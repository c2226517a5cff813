import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { rounds } from '../../../test/support/long-form.ts';
import { UserError } from '../../errors/user-error.ts';
import { findList, listPieces } from './list-pieces.ts';

const whole = { start: 0, isField: false };

/** The list as it is read piece by piece; undefined where that fails. */
function read(text: string): unknown {
  const bytes = Buffer.from(text);
  const place = findList(bytes);
  if (place === undefined) return undefined;
  try {
    const entries: unknown[] = [];
    for (const { from, to, entriesBefore } of listPieces(bytes, place)) {
      assert.equal(entriesBefore, entries.length);
      entries.push(...JSON.parse(`[${bytes.subarray(from, to).toString()}]`));
    }
    return entries;
  } catch (error) {
    if (error instanceof UserError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

test('a text is a list in pieces if, and only if, it is one as a whole', () => {
  const mark = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\',
    ' ',
    '\n',
    '1',
    '"a"',
    '"a":1',
    '[]',
    'é',
    'null',
  );
  const broken = fc.array(mark, { maxLength: 12 }).map((parts) => `[${parts.join('')}`);
  const list = fc.array(fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value, undefined, 1));
  fc.assert(
    fc.property(fc.oneof(broken, list), (text) => {
      assert.deepEqual(read(text), parsed(text));
    }),
    { numRuns: rounds(1_000, 30_000) },
  );
});

test('a long list comes in pieces that lose and repeat nothing', () => {
  const entries = Array.from({ length: 20_000 }, (_, at) => ({
    cidr: `10.0.${at >> 8}.${at & 255}/32`,
    text: '],"[\\',
  }));
  const text = JSON.stringify(entries);
  const bytes = Buffer.from(text);
  assert.ok([...listPieces(bytes, whole)].length > 5);
  assert.deepEqual(read(text), entries);
  assert.equal(read(`${text},`), undefined);
  assert.equal(read(text.slice(0, -1)), undefined);
  assert.equal(read(`${text.slice(0, -1)},]`), undefined);
});

test('an entry that is longer than any may be is refused by its number', () => {
  const long = `"${'x'.repeat(100_000)}"`;
  for (const entry of [long, `[${'1,'.repeat(50_000)}1]`, ' '.repeat(100_000), `"${'\\"'.repeat(50_000)}"`]) {
    const bytes = Buffer.from(`["a","b",${entry}]`);
    assert.throws(() => [...listPieces(bytes, whole)], /Entry 3 of the list is longer than 65536 bytes/);
  }
});

test('an entry that nests without end is refused at once', () => {
  const bytes = Buffer.from(`["a",${'['.repeat(1_000_000)}`);
  assert.throws(() => [...listPieces(bytes, whole)], /deeper than 32 levels/);
});

test('the list of an object is found where it is a field of its own, and nowhere else', () => {
  const found = (text: string) => {
    const place = findList(Buffer.from(text), 'rules');
    return place && { at: text.slice(place.start, place.start + 2), isField: place.isField };
  };
  for (const text of ['{"rules":[1]}', ' {"uri":"rules", "more":{"rules":[2]},"x":["rules"],"rules" : [1,2]}'])
    assert.deepEqual(found(text), { at: '[1', isField: true }, text);
  assert.deepEqual(found('[1]'), { at: '[1', isField: false });
  for (const text of [
    '{"rules":{"rules":[1]}}',
    '{"a":{"rules":[1]}}',
    '{"a":"rules","b":[1]}',
    '{"rules":1}',
    '{"rule',
    '',
  ]) {
    assert.equal(found(text), undefined, text);
  }
  assert.equal(found(`{"a":"${'x'.repeat(20_000)}","rules":[1]}`), undefined);
  assert.equal(findList(Buffer.from('{"rules":[1]}')), undefined);
});
