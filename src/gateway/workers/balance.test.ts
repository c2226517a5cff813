import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Balance } from './balance.ts';
import type { WorkerLoad } from './balance.ts';

function startBalance(most: number) {
  const balance = new Balance<number>({ least: 1, most });
  const look = (loads: readonly WorkerLoad[], coming = 0) => balance.look(new Map(loads.entries()), coming);
  return look;
}

const load = (busy: number, clients = 100): WorkerLoad => ({ busy, clients, memoryBytes: 0 });

test('a worker is added when one has been busy for three looks in a row, and no sooner', () => {
  const look = startBalance(2);
  assert.deepEqual([look([load(0.9)]).add, look([load(0.9)]).add], [false, false]);
  assert.equal(look([load(0.2)]).add, false, 'it was a burst');
  assert.deepEqual(
    [1, 2, 3].map(() => look([load(0.71)]).add),
    [false, false, true],
  );
});

test('after one is added, three busy looks are needed for the next', () => {
  const look = startBalance(3);
  assert.deepEqual(
    Array.from({ length: 7 }, () => look([load(0.9)]).add),
    [false, false, true, false, false, true, false],
  );
});

test('one at a time, and never more than planned', () => {
  const look = startBalance(2);
  const adds = (coming: number) => [1, 2, 3, 4].some(() => look([load(1)], coming).add);
  assert.equal(adds(1), false, 'one is being started');
  assert.equal(adds(0), true);
  const full = startBalance(2);
  assert.ok([1, 2, 3, 4].every(() => !full([load(1), load(1)]).add));
});

test('clients of the busiest come again, so many that half of what it has more stays away, and not all at once', () => {
  const look = startBalance(2);
  assert.deepEqual(look([load(0.8, 6), load(0.4, 3)]).relieve, { worker: 0, clients: 2 });
  assert.deepEqual(look([load(0.1, 1), load(0.9, 40)]).relieve, { worker: 1, clients: 34 });
  assert.deepEqual(look([load(0.1, 1), load(0.9, 9000)]).relieve, { worker: 1, clients: 50 });
  const ofThree = startBalance(3);
  assert.deepEqual(ofThree([load(0.9, 40), load(0.1, 1), load(0.5, 20)]).relieve, { worker: 0, clients: 25 });
});

test('nobody is asked to come again where shares are about even, loads are low, or one connection makes the difference', () => {
  const look = startBalance(2);
  assert.equal(look([load(0.8), load(0.7)]).relieve, undefined);
  assert.equal(look([load(0.39), load(0)]).relieve, undefined);
  assert.equal(look([load(0.9, 1), load(0, 0)]).relieve, undefined);
  assert.equal(look([load(0.9, 2), load(0.45, 1)]).relieve, undefined);
  assert.equal(look([load(0.9)]).relieve, undefined);
  assert.equal(look([]).relieve, undefined);
});
