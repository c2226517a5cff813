import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { nextAskMs, renewalMs, renewalWithin, retryWaitMs } from './schedule.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

test('each failure in a row makes the wait longer, up to a day', () => {
  const waits = Array.from({ length: 12 }, (_, at) => retryWaitMs(at + 1, 0, 0));
  assert.equal(waits[0], minuteMs);
  for (let at = 1; at < waits.length; at++) assert.ok((waits[at] ?? 0) >= (waits[at - 1] ?? 0));
  assert.equal(waits.at(-1), dayMs);
});

test('the authority may ask for a longer wait, up to a week', () => {
  assert.equal(retryWaitMs(1, 10 * minuteMs, 0), 10 * minuteMs);
  assert.equal(retryWaitMs(1, 1000 * dayMs, 0), 7 * dayMs);
  assert.equal(retryWaitMs(12, 10 * minuteMs, 0), dayMs);
});

test('a certificate is renewed at about two thirds of its lifetime, and never after them', () => {
  assert.equal(renewalMs(0, 90 * dayMs, 0), 60 * dayMs);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
      const share = renewalMs(1_000, 1_000 + 90 * dayMs, random) / (90 * dayMs);
      assert.ok(share > 0.63 && share <= 0.667, String(share));
    }),
  );
});

test('a renewal lies in the window that the authority names, stays where it was within it, and never comes at the end', () => {
  const certificate = { notBeforeMs: 0, notAfterMs: 1000 };
  const window = { startMs: 300, endMs: 400 };
  assert.equal(renewalWithin(window, certificate, 666, 0.5), 350);
  assert.equal(renewalWithin(window, certificate, 100, 1), 400);
  assert.equal(renewalWithin(window, certificate, 310, 0.5), 310);
  assert.equal(renewalWithin({ startMs: 5000, endMs: 6000 }, certificate, 666, 0.5), 900);
});

test('the authority is asked for the window as often as it says, from an hour to a day', () => {
  assert.deepEqual([0, 1, 7_200_000, 9e9].map(nextAskMs), [21_600_000, 3_600_000, 7_200_000, 86_400_000]);
});
