import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasElapsed } from './elapsed.ts';

test('time has passed when the clock was set back by as much', () => {
  const outcomes = [0, 59, 60, 1000, -59, -60, -1000].map((sinceMs) => hasElapsed(sinceMs, 60, 0));
  assert.deepEqual(outcomes, [false, false, true, true, false, true, true]);
});
