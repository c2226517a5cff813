import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { jsonPieces } from './json-pieces.ts';

test('plain data of any form and size has the text that JSON has of it', () => {
  const large = fc.tuple(fc.jsonValue(), fc.integer({ min: 1, max: 600 })).map(([value, times]) => ({
    list: Array.from({ length: times }, () => value),
    map: Object.fromEntries(Array.from({ length: times }, (_, at) => [`"${at}`, at % 3 === 0 ? undefined : value])),
  }));
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), large), (value) => {
      assert.equal([...jsonPieces(value)].join(''), JSON.stringify(value));
    }),
    { numRuns: 200 },
  );
});

test('no piece is of many members', () => {
  const routes = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`/${at}`, { a: { b: 'c' } }]));
  const most = Math.max(...[...jsonPieces({ routes })].map(({ length }) => length));
  assert.ok(most < 100, `a piece of ${most} characters`);
});

test('no piece is of many long texts', () => {
  const policy = 'p'.repeat(10_000);
  const list = Array.from({ length: 50 }, () => ({ id: 'e', policy }));
  const most = Math.max(...[...jsonPieces({ list })].map(({ length }) => length));
  assert.ok(most < 2 * policy.length, `a piece of ${most} characters`);
});
