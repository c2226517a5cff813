import assert from 'node:assert/strict';
import { readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';

const folder = scratchFolder();
let files = 0;

function newPath(): string {
  return join(folder, `${(files += 1)}.db`);
}

async function start(path: string): Promise<string> {
  await using gatehouse = await Gatehouse.start(`sqlite:${path}`, { role: 'api' });
  const { status } = await gatehouse.get('/api_keys');
  return String(status);
}

test('a database file that lost its contents is no first start: it is refused, and removing it is the remedy', async () => {
  const path = newPath();
  assert.equal(await start(path), '200');
  await truncate(path);
  await assert.rejects(start(path), /is an empty file: what was in it is lost.*Restore a backup.*remove the file/s);
  assert.equal((await stat(path)).size, 0, 'it was written to');
  await rm(path);
  assert.equal(await start(path), '200');
});

test('a database file that is gone while its log is there is refused', async () => {
  const path = newPath();
  await writeFile(`${path}-wal`, 'log');
  await assert.rejects(start(path), /is gone, but its log .*-wal is there.*restore a backup/s);
  assert.ok(!(await readdir(folder)).includes(`${files}.db`), 'it was made anew');
});

test('a file that another process is about to make a database of is waited for', async () => {
  const path = newPath();
  await writeFile(path, '');
  const other = newPath();
  assert.equal(await start(other), '200');
  const started = start(path);
  // Whole at once, as SQLite's locks let the process that waits see it.
  await rename(other, path);
  assert.equal(await started, '200');
});
