import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder that is removed when this process ends: in a hook, `after` would be called at the end of that hook. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-e2e-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Returns the URL of a SQLite database that does not exist yet. */
export function newSqlite(): string {
  return `sqlite:${join(scratchFolder(), 'gatehouse.db')}`;
}
