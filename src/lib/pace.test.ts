import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nextTurn } from './next-turn.ts';
import { AbandonedError, Pace, runUrgently } from './pace.ts';

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

test('work that others wait for has every other slice, however many wait', async () => {
  const log: string[] = [];
  const work = async (name: string) => {
    const pace = new Pace();
    for (let step = 0; step < 3; step++) {
      await pace.giveWay();
      log.push(`${name}${step}`);
    }
  };
  await Promise.all([...['a', 'b', 'c', 'd'].map(work), runUrgently(() => work('x'))]);
  assert.deepEqual(log.slice(0, 8), ['a0', 'x0', 'b0', 'x1', 'c0', 'x2', 'd0', 'a1']);
  assert.equal(log.length, 15);
});

/** Works until its slice is over. */
function useUp(pace: Pace): void {
  const endMs = performance.now() + 120_000;
  while (!pace.isDue) assert.ok(performance.now() < endMs);
}

test('a slice is due after a while, not at once', async () => {
  const begun: boolean[] = [];
  for (let turn = 0; turn < 20; turn++) {
    await nextTurn();
    begun.push(new Pace().isDue);
  }
  assert.ok(begun.includes(false));
  useUp(new Pace());
});

test('all works of one turn of the event loop share a slice, and the next turn has another', async () => {
  const [one, other] = [new Pace(), new Pace()];
  useUp(one);
  assert.equal(other.isDue, true);
  assert.equal(new Pace().isDue, true);
  const due: boolean[] = [];
  for (let turn = 0; turn < 20; turn++) {
    await nextTurn();
    due.push(other.isDue);
  }
  assert.ok(due.includes(false));
});

test('work that nobody waits for any more is due at once, and ends where it would give way', async () => {
  let isAbandoned = false;
  const pace = new Pace(() => isAbandoned);
  await pace.giveWay();
  isAbandoned = true;
  assert.equal(pace.isDue, true);
  await assert.rejects(pace.giveWay(), AbandonedError);
});
