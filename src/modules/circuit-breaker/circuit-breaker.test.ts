import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit, runOnly } from '../../../test/support/step-visit.ts';
import { UserError } from '../../errors/user-error.ts';
import { Breaker } from '../breaker.ts';
import type { Attempt } from '../breaker.ts';
import { circuitBreaker } from './index.ts';

function start(threshold: number) {
  const clock = { ms: 0 };
  const rules = { threshold, leastRequests: 10, windowMs: 10_000, parts: 10, openMs: 10_000 };
  const breaker = new Breaker(rules, () => clock.ms);
  const answer = (count: number, isFailure: boolean): void => {
    for (let each = 0; each < count; each++) breaker.attempt()?.answered(isFailure ? 500 : 499);
  };
  return { breaker, clock, answer, mayPass: () => breaker.attempt() !== undefined };
}

test('it opens above the threshold, and not at it or by a few requests', () => {
  const { answer, mayPass } = start(0.5);
  answer(9, false);
  answer(9, true);
  assert.equal(mayPass(), true, 'half of them failed');
  answer(1, true);
  assert.equal(mayPass(), false);
  const few = start(0);
  few.answer(9, true);
  assert.equal(few.mayPass(), true, 'nine requests say nothing');
});

test('failures are forgotten after ten seconds', () => {
  const { clock, answer, mayPass } = start(0.5);
  answer(9, true);
  clock.ms = 10_001;
  answer(1, true);
  assert.equal(mayPass(), true);
  answer(9, true);
  assert.equal(mayPass(), false);
});

test('each answer counts for ten seconds, whatever came before it', () => {
  const { clock, answer, mayPass } = start(0.5);
  answer(1, false);
  clock.ms = 5_000;
  answer(9, true);
  clock.ms = 10_001;
  assert.equal(mayPass(), false, 'nine of ten have failed');
  const later = start(0.5);
  later.answer(1, false);
  later.clock.ms = 5_000;
  later.answer(8, true);
  later.clock.ms = 10_001;
  later.answer(2, true);
  assert.equal(later.mayPass(), false, 'ten in the last ten seconds');
});

/** Lets a request through, which is answered later. */
function pass(breaker: Breaker): Attempt {
  const attempt = breaker.attempt();
  assert.ok(attempt, 'it may pass');
  return attempt;
}

test('a trial passes after ten seconds: its success closes the breaker, its failure keeps it open', () => {
  const { breaker, clock, answer, mayPass } = start(0);
  answer(10, true);
  clock.ms = 9999;
  assert.equal(mayPass(), false);
  clock.ms = 10_000;
  const trial = pass(breaker);
  assert.equal(mayPass(), false, 'one trial at a time');
  trial.answered(500);
  clock.ms = 19_999;
  assert.equal(mayPass(), false);
  clock.ms = 20_000;
  pass(breaker).answered(499);
  assert.equal(mayPass(), true);
  answer(9, true);
  assert.equal(mayPass(), true, 'it counts anew');
  answer(1, true);
  assert.equal(mayPass(), false);
});

test('late answers to requests from before it opened neither close it nor keep it open', () => {
  const { breaker, clock, answer, mayPass } = start(0);
  const late = Array.from({ length: 5 }, () => pass(breaker));
  answer(10, true);
  late[0]?.answered(200);
  assert.equal(mayPass(), false);
  clock.ms = 10_000;
  const trial = pass(breaker);
  late[1]?.answered(200);
  assert.equal(mayPass(), false, 'only the trial closes it');
  late[2]?.answered(500);
  trial.answered(200);
  assert.equal(mayPass(), true, 'only the trial decides');
  answer(8, false);
  for (const attempt of [late[3], late[4], trial]) attempt?.answered(500);
  answer(1, false);
  answer(1, false);
  assert.equal(mayPass(), true, 'answers from before are not counted once it is closed');
});

test('a trial that nobody answers does not keep it open for ever, and may be answered late', () => {
  const { breaker, clock, answer, mayPass } = start(0);
  answer(10, true);
  clock.ms = 10_000;
  const slow = pass(breaker);
  clock.ms = 10_999;
  assert.equal(mayPass(), false);
  clock.ms = 11_000;
  const next = pass(breaker);
  slow.answered(200);
  assert.equal(mayPass(), true, 'an upstream whose answers take longer than the time between trials is served again');
  next.answered(500);
  assert.equal(mayPass(), true);
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
  const visit = requestVisit();
  for (let each = 0; each < 10; each++) {
    assert.equal(runOnly(circuitBreaker.build(former), visit), undefined);
    visit.circuits.at(-1)?.answered(500);
  }
  const refused = runOnly(circuitBreaker.build(former), visit);
  assert.ok(refused instanceof UserError);
  assert.equal(refused.code, 20153);
  assert.equal(circuitBreaker.isSame?.({ error_threshold_percentage: 0 }, former), true);
  assert.equal(circuitBreaker.isSame?.({ error_threshold_percentage: 0.5 }, former), false);
});
