import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** Makes a folder that is removed after the tests of the file. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-e2e-'));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Returns the URL of a SQLite database that does not exist yet. */
export function newSqlite(): string {
  return `sqlite:${join(scratchFolder(), 'gatehouse.db')}`;
}
