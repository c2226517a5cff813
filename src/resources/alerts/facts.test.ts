import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRefusals } from './facts.ts';

test('an edge refuses visitors for a while after the last refusal, and not because a clock was set back', () => {
  const minuteMs = 60_000;
  const at = (atMs: number) =>
    new Map([['edghts_1', { atMs, cause: 'rule' as const, message: '', source: '192.0.2.1' }]]);
  const told = (agoMs: number, isOpen: boolean) => readRefusals(at(Date.now() - agoMs), () => isOpen).length;
  assert.deepEqual([told(0, false), told(2 * minuteMs, false)], [1, 0]);
  assert.deepEqual([told(2 * minuteMs, true), told(11 * minuteMs, true)], [1, 0]);
  assert.deepEqual([told(-60 * minuteMs, true), told(-60 * minuteMs, false)], [0, 0]);
});
