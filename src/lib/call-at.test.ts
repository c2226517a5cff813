import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';

import { callAt } from './call-at.ts';

/** Resolves with the clock's time at the call. */
function calledAt(timeMs: number, clock: () => number = Date.now): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  // The timer alone would not keep the process alive.
  const alive = setTimeout(() => {}, 60_000);
  callAt(timeMs, () => resolve(clock()), clock);
  return promise.finally(() => clearTimeout(alive));
}

test('calls at the time, never before, and at once where it has passed', async () => {
  const timeMs = Date.now() + 30;
  assert.ok((await calledAt(timeMs)) >= timeMs);
  assert.ok((await calledAt(0)) > 0);
  assert.ok((await calledAt(-Infinity)) > 0);
});

test('a time beyond that of the longest timer, or never, is not now', async () => {
  const calls: number[] = [];
  const off = [Date.now() + 2 ** 31, Number.MAX_SAFE_INTEGER, Infinity].map((timeMs) =>
    callAt(timeMs, () => calls.push(timeMs)),
  );
  await wait(20);
  for (const callOff of off) callOff();
  assert.deepEqual(calls, []);
});

test('looks at the clock again when the timer is over, and one that is called off does not call', async () => {
  let nowMs = 0;
  // The clock is set back once, while the timer runs.
  const times = [0, 0, -20, -20, 40, 40, 40];
  const clock = () => (nowMs = times.shift() ?? nowMs);
  assert.equal(await calledAt(20, clock), 40);
  let calls = 0;
  callAt(Date.now() + 10, () => calls++)();
  await wait(40);
  assert.equal(calls, 0);
});
