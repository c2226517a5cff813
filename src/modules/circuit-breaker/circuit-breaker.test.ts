import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Breaker } from './breaker.ts';

function start(threshold: number) {
  const clock = { ms: 0 };
  const breaker = new Breaker(threshold, () => clock.ms);
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
