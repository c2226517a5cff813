import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ready, valueNow, whenReady } from './awaitable.ts';
import type { Awaitable } from './awaitable.ts';

test('a value that is there is taken at once, and awaited like any other', async () => {
  const taken: number[] = [];
  const doubled = whenReady(ready(2), (value) => {
    taken.push(value);
    return value * 2;
  });
  assert.deepEqual(taken, [2]);
  assert.equal(valueNow(doubled), 4);
  assert.equal(await doubled, 4);
  assert.equal(await whenReady(doubled, (value) => ready(value + 1)), 5);
  assert.equal(await whenReady(doubled, async (value) => value + 2), 6);
});

test('a value that is read is taken when it comes, and its fault is thrown by whoever awaits it', async () => {
  assert.equal(await whenReady(Promise.resolve(2), (value) => value + 1), 3);
  assert.equal(valueNow(Promise.resolve(2)), undefined);
  const failed: Awaitable<number> = Promise.reject(new Error('gone'));
  await assert.rejects(async () => whenReady(failed, (value) => value), /gone/);
});

test('before it is awaited, it is no value to the type checker', () => {
  const one = { name: 'one' };
  const value: Awaitable<{ readonly name: string }> = ready(one);
  // @ts-expect-error -- it cannot be compared
  assert.ok(value === one);
  // @ts-expect-error -- nor looked into
  assert.equal(value.name, 'one');
  // @ts-expect-error -- nor followed, since a value that is there has no such method
  assert.throws(() => value.then(() => {}), TypeError);
});
