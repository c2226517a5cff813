import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SharedCache } from './shared-cache.ts';

/** Sets so many values, and returns how many of an owner are there. */
function setMany(cache: SharedCache<number>, owner: string, count: number, first = 0): void {
  for (let at = first; at < first + count; at++) cache.set(owner, String(at), at);
}

function countOf(cache: SharedCache<number>, owner: string, count: number): number {
  return Array.from({ length: count }, (_, at) => cache.get(owner, String(at))).filter((each) => each !== undefined)
    .length;
}

test('one owner may have all of it, and loses what was set longest ago', () => {
  const cache = new SharedCache<number>(100);
  setMany(cache, 'a', 100);
  assert.equal(countOf(cache, 'a', 100), 100);
  cache.set('a', '0', 7);
  setMany(cache, 'a', 2, 100);
  assert.deepEqual(
    ['0', '1', '2', '3', '101'].map((key) => cache.get('a', key)),
    [7, undefined, undefined, 3, 101],
  );
});

test('an owner that fills it pushes out its own values, and those of others beyond an equal share', () => {
  const cache = new SharedCache<number>(100);
  setMany(cache, 'a', 10);
  setMany(cache, 'b', 10_000);
  assert.equal(countOf(cache, 'a', 10), 10);
  assert.equal(countOf(cache, 'b', 10_000), 90);
  setMany(cache, 'c', 50);
  assert.equal(countOf(cache, 'a', 10), 10);
  assert.ok(countOf(cache, 'c', 50) >= 33);
  assert.ok(countOf(cache, 'b', 10_000) >= 33);
  assert.ok(countOf(cache, 'a', 10) + countOf(cache, 'b', 10_000) + countOf(cache, 'c', 50) <= 100);
});

test('values have weights, and one that is deleted or set again leaves its own', () => {
  const cache = new SharedCache<number>(100);
  cache.set('a', 'large', 1, 60);
  cache.set('a', 'large', 1, 10);
  cache.set('b', 'other', 2, 90);
  assert.deepEqual([cache.get('a', 'large'), cache.get('b', 'other')], [1, 2]);
  cache.set('b', 'more', 3, 20);
  assert.deepEqual([cache.get('a', 'large'), cache.get('b', 'other'), cache.get('b', 'more')], [1, undefined, 3]);
  cache.delete('a', 'large');
  cache.delete('a', 'large');
  cache.set('b', 'rest', 4, 80);
  assert.deepEqual([cache.get('a', 'large'), cache.get('b', 'more'), cache.get('b', 'rest')], [undefined, 3, 4]);
  cache.set('c', 'too large', 5, 101);
  assert.equal(cache.get('c', 'too large'), undefined);
});
