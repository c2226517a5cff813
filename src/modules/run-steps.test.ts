import assert from 'node:assert/strict';
import { test } from 'node:test';

import { doneBy, holdsUntil, runSteps } from './run-steps.ts';
import type { Position, Runnable } from './run-steps.ts';

interface Visit extends Position {
  readonly ran: string[];
}

function step(name: string, more: Partial<Runnable<Visit>> = {}): Runnable<Visit> {
  return { run: ({ ran }) => void ran.push(name), holds: () => Infinity, ...more };
}

const waiting = { kind: 'hold', maxBytes: 1 } as const;

/** Waits the first time that it is asked. */
const hold = step('hold', {
  run: ({ ran }) => (ran.push('hold'), ran.filter((each) => each === 'hold').length === 1 ? waiting : undefined),
});

test('a visit that has waited goes on with the step that it waited for', () => {
  const visit: Visit = { at: 0, done: undefined, ran: [] };
  const steps = [step('a'), hold, step('b')];
  assert.equal(runSteps(steps, visit), waiting);
  assert.equal(runSteps(steps, visit), undefined);
  assert.deepEqual([visit.ran, visit.at], [['a', 'hold', 'hold', 'b'], 3]);
});

test('an effect happens once where a visit is begun anew, also one that had not happened', () => {
  const steps = [step('rates', { once: 'rates' }), step('a'), hold, step('warnings', { once: 'warnings' })];
  const ran: string[] = [];
  const first: Visit = { at: 0, done: undefined, ran };
  assert.equal(runSteps(steps, first), waiting);
  const second: Visit = { at: 0, done: doneBy(steps, first), ran };
  assert.equal(runSteps(steps, second), undefined);
  const third: Visit = { at: 0, done: doneBy(steps, second), ran };
  assert.equal(runSteps(steps, third), undefined);
  assert.deepEqual(ran, ['rates', 'a', 'hold', 'a', 'hold', 'warnings', 'a', 'hold']);
});

test('an effect that has happened stays so where a visit is begun anew twice, and waits before it', () => {
  const steps = [hold, step('rates', { once: 'rates' })];
  const ran: string[] = [];
  const first: Visit = { at: 0, done: undefined, ran };
  assert.equal(runSteps(steps, first), waiting);
  assert.equal(runSteps(steps, first), undefined);
  const second: Visit = { at: 0, done: doneBy(steps, first), ran: [] };
  assert.equal(runSteps(steps, second), waiting);
  const third: Visit = { at: 0, done: doneBy(steps, second), ran };
  assert.equal(runSteps(steps, third), undefined);
  assert.deepEqual(ran, ['hold', 'hold', 'rates', 'hold']);
});

test('what is open ends with the first step that ends it, and at once where its time is over', () => {
  const visit: Visit = { at: 0, done: undefined, ran: [] };
  const until = (...times: readonly number[]) => times.map((time) => step('', { holds: () => time }));
  assert.equal(holdsUntil(until(Infinity, 300, 200), visit, 3, 100), 200);
  assert.equal(holdsUntil(until(Infinity, 300, 200), visit, 2, 100), 300);
  assert.equal(holdsUntil(until(300, 100), visit, 2, 100), 0);
  assert.equal(holdsUntil([], visit), Infinity);
});
