import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { deleteUnusedCode } from './support/compile-cache.ts';
import { scratchFolder } from './support/scratch.ts';

test('compiled code that was neither read nor written for a week is deleted, and no other', () => {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'v24'));
  const [now, old] = [Date.now() / 1000, Date.now() / 1000 - 8 * 86_400];
  for (const [name, read, written] of [
    ['unused', old, old],
    ['read', now, old],
    ['written', old, now],
    ['of this week', now - 6 * 86_400, now - 6 * 86_400],
  ] as const) {
    const path = join(folder, 'v24', name);
    writeFileSync(path, '');
    utimesSync(path, read, written);
  }
  deleteUnusedCode(folder);
  assert.deepEqual(readdirSync(join(folder, 'v24')).toSorted(), ['of this week', 'read', 'written']);
  deleteUnusedCode(join(folder, 'none'));
});
