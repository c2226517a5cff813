import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Pace } from './pace.ts';

test('of several works that give way, one runs in each turn of the event loop, in order', async () => {
  let turn = 0;
  const count = () => {
    turn += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const log: string[] = [];
  const turns: number[] = [];
  const work = async (name: string) => {
    const pace = new Pace();
    for (let step = 0; step < 3; step++) {
      await pace.giveWay();
      log.push(`${name}${step}`);
      turns.push(turn);
    }
  };
  await Promise.all([work('a'), work('b'), work('c')]);
  clearImmediate(immediate);
  assert.deepEqual(log, ['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
  assert.equal(new Set(turns).size, 9);
});

test('a slice is due after a while, not at once', () => {
  const begun = Array.from({ length: 20 }, () => new Pace().isDue);
  assert.ok(begun.includes(false));
  const pace = new Pace();
  const endMs = performance.now() + 5_000;
  while (!pace.isDue) assert.ok(performance.now() < endMs);
});
