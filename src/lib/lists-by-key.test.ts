import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addTo } from './lists-by-key.ts';

test('values are added to the list of their key, in order', () => {
  const lists = new Map<string, number[]>();
  addTo(lists, 'a', 1);
  addTo(lists, 'b', 2);
  addTo(lists, 'a', 3);
  assert.deepEqual(
    [...lists],
    [
      ['a', [1, 3]],
      ['b', [2]],
    ],
  );
});
