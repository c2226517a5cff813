import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Ready, whenReady } from './awaitable.ts';
import type { Awaitable } from './awaitable.ts';

test('a value that is there is taken at once, and awaited like any other', async () => {
  const taken: number[] = [];
  const doubled = whenReady(new Ready(2), (value) => {
    taken.push(value);
    return value * 2;
  });
  assert.deepEqual(taken, [2]);
  assert.ok(doubled instanceof Ready);
  assert.equal(await doubled, 4);
  assert.equal(await whenReady(doubled, (value) => new Ready(value + 1)), 5);
  assert.equal(await whenReady(doubled, async (value) => value + 2), 6);
  assert.equal(await doubled.then((value) => value + 3), 7);
});

test('a value that is read is taken when it comes, and its fault is thrown by whoever awaits it', async () => {
  assert.equal(await whenReady(Promise.resolve(2), (value) => value + 1), 3);
  const failed: Awaitable<number> = Promise.reject(new Error('gone'));
  await assert.rejects(async () => whenReady(failed, (value) => value), /gone/);
});

test('before it is awaited, it is no value to the type checker', () => {
  const one = { name: 'one' };
  // The type of what a function answers.
  const value = new Ready(one) as Awaitable<{ readonly name: string }>;
  // @ts-expect-error -- it cannot be compared
  assert.equal(value === one, false);
  // @ts-expect-error -- nor looked into
  assert.equal(value.name, undefined);
});
