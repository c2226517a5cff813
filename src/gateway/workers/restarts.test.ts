import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Restarts } from './restarts.ts';

test('workers that end soon after their start are a loop after three, and each next one waits longer, up to ten seconds', () => {
  const restarts = new Restarts(() => 10_000);
  const rounds = Array.from({ length: 10 }, () => [restarts.ended(0), restarts.nextPauseMs()] as const);
  assert.deepEqual(rounds, [
    [false, 0],
    [false, 100],
    [false, 200],
    [true, 400],
    [true, 800],
    [true, 1600],
    [true, 3200],
    [true, 6400],
    [true, 10_000],
    [true, 10_000],
  ]);
  assert.equal(restarts.tries, 10);
});

test('a worker that had lived for a while ends by itself, however many did so before', () => {
  const clock = { ms: 0 };
  const restarts = new Restarts(() => clock.ms);
  for (let death = 0; death < 5; death++) {
    const startedMs = clock.ms;
    clock.ms += 86_400_000;
    assert.equal(restarts.ended(startedMs), false);
    assert.equal(restarts.nextPauseMs(), 0, 'the next one is started at once');
  }
});
