import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fillRandom } from './random-pool.ts';

test('every byte behind the start is filled, and no two takings are alike', () => {
  const seen = new Set<string>();
  const used = new Uint8Array(32);
  for (let round = 0; round < 1000; round++) {
    const bytes = new Uint8Array(36);
    fillRandom(bytes, 4);
    assert.deepEqual(bytes.subarray(0, 4), new Uint8Array(4));
    seen.add(Buffer.from(bytes.subarray(4)).toString('hex'));
    for (const [at, byte] of bytes.subarray(4).entries()) if (byte !== 0) used[at] = 1;
  }
  assert.equal(seen.size, 1000);
  assert.ok(used.every((each) => each === 1));
});
