import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Journal } from './journal.ts';

test('only its owner may read the journal: it holds the configuration of another installation', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-import-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'import.state');
  const journal = await Journal.open(path, 'https://from', 'https://to');
  await journal.addMade('old', 'new');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});
