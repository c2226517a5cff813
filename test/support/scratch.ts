import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/**
 * Makes a folder that is removed when this process ends. A hook would be too early: one that stops a program may come after
 * it, and a hook that is registered in a hook is called at the end of that.
 */
export function scratchFolder(): string {
  if (folders.length === 0) {
    process.once('exit', () => {
      for (const each of folders) rmSync(each, { recursive: true, force: true });
    });
  }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'));
  folders.push(folder);
  return folder;
}

/** Returns the URL of a SQLite database that does not exist yet. */
export function newSqlite(): string {
  return `sqlite:${join(scratchFolder(), 'gatehouse.db')}`;
}
