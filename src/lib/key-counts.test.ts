import assert from 'node:assert/strict';
import { test } from 'node:test';

import { KeyCounts } from './key-counts.ts';

test('counts go up and down by key, and a key of which nothing is left is forgotten', () => {
  const counts = new KeyCounts<string>();
  counts.add('a', 2);
  counts.add('b', 5);
  counts.add('a', -1);
  assert.deepEqual([counts.of('a'), counts.of('b'), counts.of('c')], [1, 5, 0]);
  assert.deepEqual([counts.most(), counts.most('b')], [5, 1]);
  counts.add('b', -5);
  counts.add('c', -1);
  assert.deepEqual([...counts.entries()], [['a', 1]]);
  assert.equal(new KeyCounts().most(), 0);
});
