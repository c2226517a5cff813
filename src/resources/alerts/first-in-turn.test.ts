import assert from 'node:assert/strict';
import { test } from 'node:test';

import { firstInTurn } from './first-in-turn.ts';

test('a long list takes no place from others, and no more are taken than may be', () => {
  const long = Array.from({ length: 200 }, (_, at) => `begun ${at}`);
  assert.deepEqual(firstInTurn([['over 0', 'over 1'], long, [], ['down']], 4), ['over 0', 'begun 0', 'down', 'over 1']);
  assert.equal(firstInTurn([long], 100).length, 100);
  assert.deepEqual(firstInTurn([[], []], 100), []);
});
