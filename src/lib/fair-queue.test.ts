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

test('an owner that may not take one is passed by, and keeps its turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['b1', 'b2', 'a1']) queue.push(item.charAt(0), item);
  const notB = (owner: string) => owner !== 'b';
  assert.equal(queue.take(notB), 'a1');
  assert.equal(queue.take(notB), undefined);
  queue.push('a', 'a2');
  assert.deepEqual(takeAll(queue), ['b1', 'a2', 'b2']);
});

test('an item is in it once, and one that is deleted is not handed out', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a1', 'a3', 'b1']) queue.push(item.charAt(0), item);
  queue.delete('a', 'a2');
  queue.delete('b', 'b1');
  queue.delete('c', 'c1');
  assert.deepEqual(takeAll(queue), ['a1', 'a3']);
  queue.push('a', 'a1');
  assert.equal(queue.take(), 'a1');
  queue.push('a', 'a1');
  queue.clear();
  assert.equal(queue.isEmpty, true);
});

test('a long line costs as much for each item as a short one', () => {
  const takeFrom = (count: number): number => {
    const queue = new FairQueue<object>();
    for (let at = 0; at < count; at++) queue.push('a', {});
    const { user, system } = process.cpuUsage();
    for (let at = 0; at < count; at++) queue.take();
    const now = process.cpuUsage();
    return (now.user - user + now.system - system) / count;
  };
  takeFrom(50_000);
  const [short, long] = [takeFrom(20_000), takeFrom(400_000)];
  assert.ok(long < short * 12, `${short} and ${long} µs for each`);
});
