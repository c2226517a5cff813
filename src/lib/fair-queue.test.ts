import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FairQueue } from './fair-queue.ts';

function takeAll(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  while (!queue.isEmpty) taken.push(queue.take() ?? '');
  return taken;
}

test('an owner with one item does not wait for all items of another', () => {
  const queue = new FairQueue<string>();
  for (const item of ['b1', 'b2', 'b3']) queue.push('b', item);
  queue.push('a', 'a1');
  assert.deepEqual(takeAll(queue), ['b1', 'a1', 'b2', 'b3']);
  assert.equal(queue.take(), undefined);
});

test('owners take turns, and each keeps its own order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'b1', 'a2', 'c1', 'b2', 'a3']) queue.push(item.charAt(0), item);
  assert.equal(queue.take(), 'a1');
  queue.push('d', 'd1');
  assert.deepEqual(takeAll(queue), ['b1', 'c1', 'a2', 'd1', 'b2', 'a3']);
});
