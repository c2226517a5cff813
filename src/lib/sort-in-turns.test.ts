import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sortInTurns } from './sort-in-turns.ts';

test('the order is that of a sort in one go', async () => {
  for (const count of [0, 1, 2, 2_047, 2_048, 2_049, 10_000]) {
    const texts = Array.from({ length: count }, (_, at) => String((at * 7_919) % 10_007));
    assert.deepEqual(await sortInTurns(texts), texts.toSorted());
  }
});

test('other work goes on meanwhile', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  await sortInTurns(Array.from({ length: 300_000 }, (_, at) => String((at * 7_919) % 300_007)));
  clearImmediate(immediate);
  assert.ok(turns >= 2, `${turns} turns`);
});
