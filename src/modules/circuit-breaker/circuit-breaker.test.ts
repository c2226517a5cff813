import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Breaker } from './breaker.ts';
import { circuitBreaker } from './index.ts';

function start(threshold: number) {
  const clock = { ms: 0 };
  const rules = { threshold, leastRequests: 10, windowMs: 10_000, parts: 10, openMs: 10_000 };
  const breaker = new Breaker(rules, () => clock.ms);
  const answer = (count: number, isFailure: boolean): void => {
    for (let each = 0; each < count; each++) breaker.answered(isFailure);
  };
  return { breaker, clock, answer };
}

test('it opens above the threshold, and not at it or by a few requests', () => {
  const { breaker, answer } = start(0.5);
  answer(9, false);
  answer(9, true);
  assert.equal(breaker.mayPass(), true, 'half of them failed');
  answer(1, true);
  assert.equal(breaker.mayPass(), false);
  const few = start(0);
  few.answer(9, true);
  assert.equal(few.breaker.mayPass(), true, 'nine requests say nothing');
});

test('failures are forgotten after ten seconds', () => {
  const { breaker, clock, answer } = start(0.5);
  answer(9, true);
  clock.ms = 10_001;
  answer(1, true);
  assert.equal(breaker.mayPass(), true);
  answer(9, true);
  assert.equal(breaker.mayPass(), false);
});

test('a trial passes after ten seconds: its success closes the breaker, its failure keeps it open', () => {
  const { breaker, clock, answer } = start(0);
  answer(10, true);
  clock.ms = 9999;
  assert.equal(breaker.mayPass(), false);
  clock.ms = 10_000;
  assert.equal(breaker.mayPass(), true);
  assert.equal(breaker.mayPass(), false, 'one trial at a time');
  answer(1, true);
  clock.ms = 19_999;
  assert.equal(breaker.mayPass(), false);
  clock.ms = 20_000;
  assert.equal(breaker.mayPass(), true);
  answer(1, false);
  assert.equal(breaker.mayPass(), true);
  answer(9, true);
  assert.equal(breaker.mayPass(), true, 'it counts anew');
});

test('late answers to requests from before it opened do not close it', () => {
  const { breaker, answer } = start(0);
  answer(10, true);
  answer(5, false);
  assert.equal(breaker.mayPass(), false);
});

test('a trial that nobody answers does not keep it open for ever', () => {
  const { breaker, clock, answer } = start(0);
  answer(10, true);
  clock.ms = 10_000;
  assert.equal(breaker.mayPass(), true);
  clock.ms = 11_000;
  assert.equal(breaker.mayPass(), true);
});

test('what is left out, or 0, takes its default, and a share of 0 is meant', () => {
  const defaults = { tripped_duration: 10, rolling_window: 10, num_buckets: 10, volume_threshold: 10 };
  const zeros = { tripped_duration: 0, rolling_window: 0, num_buckets: 0, volume_threshold: 0 };
  assert.deepEqual(circuitBreaker.accept({}), { enabled: true, ...defaults, error_threshold_percentage: 0.5 });
  assert.deepEqual(circuitBreaker.accept({ ...zeros, error_threshold_percentage: 0 }), {
    enabled: true,
    ...defaults,
    error_threshold_percentage: 0,
  });
});

test('settings that an agent had stored before an upgrade are understood, and are those that it asks for again', () => {
  // As release 0.2 has stored them.
  const former = { enabled: true, error_threshold: 0 } as never;
  const { breaker } = circuitBreaker.build(former);
  for (let each = 0; each < 10; each++) breaker?.answered(500);
  assert.equal(breaker?.refusal()?.code, 20153);
  assert.equal(circuitBreaker.isSame?.({ error_threshold_percentage: 0 }, former), true);
  assert.equal(circuitBreaker.isSame?.({ error_threshold_percentage: 0.5 }, former), false);
});
