import assert from 'node:assert/strict';
import { test } from 'node:test';

import { KeySets } from './key-sets.ts';

test('things are kept by key, each once', () => {
  const sets = new KeySets<string, number>();
  assert.equal(sets.isEmpty, true);
  for (const value of [1, 2, 2]) sets.add('a', value);
  sets.add('b', 3);
  assert.deepEqual([...(sets.of('a') ?? [])], [1, 2]);
  assert.deepEqual(
    Array.from(sets.entries(), ([key, { size }]) => [key, size]),
    [
      ['a', 2],
      ['b', 1],
    ],
  );
});

test('a key whose last thing goes is gone', () => {
  const sets = new KeySets<string, number>();
  sets.add('a', 1);
  assert.equal(sets.delete('a', 2), false);
  assert.equal(sets.delete('b', 1), false);
  assert.equal(sets.isEmpty, false);
  assert.equal(sets.delete('a', 1), true);
  assert.equal(sets.of('a'), undefined);
  assert.equal(sets.isEmpty, true);
});

test('all of a key are taken together', () => {
  const sets = new KeySets<string, number>();
  for (const value of [1, 2]) sets.add('a', value);
  sets.add('b', 3);
  assert.deepEqual([...(sets.take('a') ?? [])], [1, 2]);
  assert.equal(sets.take('a'), undefined);
  assert.deepEqual([...(sets.of('b') ?? [])], [3]);
  sets.clear();
  assert.equal(sets.isEmpty, true);
});
