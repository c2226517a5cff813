import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SummaryAnswer } from '../../decisions/messages.ts';
import { presentSummary } from './present-summary.ts';
import { joinTop } from './summary.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.parse('2026-11-14T10:00:00Z');
const none = { https: {}, tcp: {} };

function answer(fields: Partial<SummaryAnswer>): SummaryAnswer {
  return { beganMs: 0, keptFromMs: 0, points: [], hours: [], ...fields };
}

function point(atMs: number, requests: number, https: Record<number, number> = {}) {
  return { atMs, counts: { requests }, durations: { ...none, https } };
}

/** The usual number of requests of each interval. */
function usualOf(answers: readonly SummaryAnswer[], stepMs = hourMs, intervals = 1) {
  const { points } = presentSummary(answers, { fromMs: nowMs, toMs: nowMs + intervals * stepMs, stepMs });
  // Each point has it.
  return (points as { readonly usual: { readonly requests: number } | null }[]).map(
    ({ usual }) => usual?.requests ?? null,
  );
}

test('counts of gateways are added up, and durations are those of all of them', () => {
  const one = answer({ points: [point(nowMs, 3, { 81: 3 })] });
  const other = answer({ points: [point(nowMs, 1, { 161: 1 }), point(nowMs + hourMs, 5)] });
  const { points, total } = presentSummary([one, other], { fromMs: nowMs, toMs: nowMs + 3 * hourMs, stepMs: hourMs });
  const shown = points as {
    readonly requests: number;
    readonly p50_ms: number | null;
    readonly p95_ms: number | null;
  }[];
  assert.deepEqual(
    shown.map(({ requests, p50_ms, p95_ms }) => [requests, p50_ms, p95_ms]),
    [
      [4, 1.07, 1100],
      [5, null, null],
      [0, null, null],
    ],
  );
  assert.equal(total.requests, 9);
});

test('usual is the mean of the same hour of the days that are known, for as long as the interval', () => {
  const hours = [1, 2, 7, 8].map((day) => point(nowMs - day * dayMs, day * 10));
  assert.deepEqual(
    usualOf([answer({ hours })]),
    [(10 + 20 + 70) / 7].map((each) => Number(each.toPrecision(4))),
  );
  assert.deepEqual(usualOf([answer({ hours, keptFromMs: nowMs - 2 * dayMs })]), [15]);
  assert.deepEqual(usualOf([answer({ hours, keptFromMs: nowMs - 2 * dayMs + 1 })]), [10]);
  assert.deepEqual(usualOf([answer({ hours, hoursCutAtMs: nowMs - dayMs })]), [10]);
  assert.deepEqual(usualOf([answer({ hours, keptFromMs: nowMs - dayMs })], hourMs / 4, 5), [2.5, 2.5, 2.5, 2.5, 0]);
});

test('nothing is usual with less than a day, whatever has been since', () => {
  const hours = [point(nowMs - hourMs, 9), point(nowMs - dayMs, 5)];
  assert.deepEqual(usualOf([answer({ hours, beganMs: nowMs - dayMs + 1, keptFromMs: nowMs - dayMs + 1 })]), [null]);
  assert.deepEqual(usualOf([]), []);
});

test('a gateway that came later leaves what was usual before, and one that has lost decisions does not', () => {
  const old = answer({ hours: [point(nowMs - dayMs, 8)], beganMs: 0, keptFromMs: nowMs - dayMs });
  const young = nowMs - hourMs;
  assert.deepEqual(usualOf([old, answer({ beganMs: young, keptFromMs: young })]), [8]);
  assert.deepEqual(usualOf([old, answer({ beganMs: 0, keptFromMs: young })]), [null]);
});

test('a day is compared with whole days', () => {
  const hours = Array.from({ length: 48 }, (_, hour) => point(nowMs - (hour + 1) * hourMs, hour < 24 ? 1 : 3));
  assert.deepEqual(usualOf([answer({ hours, keptFromMs: nowMs - dayMs })], dayMs), [24]);
  assert.deepEqual(usualOf([answer({ hours, keptFromMs: nowMs - 2 * dayMs })], dayMs), [48]);
});

test('intervals before everything was counted are left out, and the one in which it began is there', () => {
  const points = [point(nowMs, 1), point(nowMs + hourMs, 2), point(nowMs + 2 * hourMs, 3)];
  const shown = (cut: Partial<SummaryAnswer>) =>
    presentSummary([answer({ points, ...cut }), answer({})], {
      fromMs: nowMs,
      toMs: nowMs + 3 * hourMs,
      stepMs: hourMs,
    });
  assert.equal(shown({}).points.length, 3);
  assert.equal(shown({ keptFromMs: nowMs + hourMs }).points.length, 2);
  assert.equal(shown({ cutAtMs: nowMs + hourMs + 1 }).points.length, 2);
  assert.equal(shown({ cutAtMs: nowMs + 2 * hourMs }).points.length, 1);
  assert.equal(shown({ cutAtMs: nowMs + hourMs + 1 }).total.requests, 5);
  assert.equal(shown({ cutAtMs: nowMs + 2 * hourMs }).counted_from, '2026-11-14T12:00:00Z');
  assert.equal(presentSummary([], { fromMs: nowMs, toMs: nowMs + hourMs, stepMs: hourMs }).counted_from, undefined);
});

test('the first ones of gateways are put together, and what may be missing is told', () => {
  const entry = (key: string, refused: number) => ({ key, refused, requests: refused + 1 });
  const top = (leastListed: number, ...entries: ReturnType<typeof entry>[]) => ({
    beganMs: 0,
    keptFromMs: 0,
    missedAtMost: 0,
    leastListed,
    entries,
  });
  const both = [top(0, entry('a', 5), entry('b', 1)), top(0, entry('b', 7))];
  assert.deepEqual(joinTop(both, 'refused', 2), {
    entries: [
      { key: 'b', refused: 8, requests: 10 },
      { key: 'a', refused: 5, requests: 6 },
    ],
    missed_at_most: 0,
  });
  assert.equal(joinTop([top(0, entry('a', 5)), top(2, entry('b', 7))], 'refused', 1).missed_at_most, 0);
  assert.equal(joinTop([top(0, entry('a', 5)), top(2, entry('b', 7))], 'refused', 2).missed_at_most, 2);
});
