import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UntoldRates } from './untold-rates.ts';

test('keys that do not fit in one message come in the next, and each once', () => {
  const untold = new UntoldRates();
  const [rule, now] = ['ac route source  60000', 600_000];
  const counted = ['a', 'b', 'c', 'd', 'e'].map((key, at) => [key, at + 1] as const);
  assert.equal(untold.add([{ rule, window: 10, counted, refused: 0, warned: 0 }]), 0);
  const told = [];
  for (let left = 3; left > 0; left--) told.push(untold.take(2, now).map((report) => report.counted));
  assert.deepEqual(told, [[counted.slice(0, 2)], [counted.slice(2, 4)], [counted.slice(4)]]);
  assert.equal(untold.isEmpty, true);
  assert.deepEqual(untold.take(2, now), []);
});
