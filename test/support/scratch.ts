import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/**
 * Makes a folder that is removed when this process ends. A hook would be too early: one that stops a program may come after
 * it, and a hook that is registered in a hook is called at the end of that.
 */
export function scratchFolder(parent = tmpdir()): string {
  if (folders.length === 0) {
    process.once('exit', () => {
      for (const each of folders) rmSync(each, { recursive: true, force: true });
    });
  }
  const folder = mkdtempSync(join(parent, 'gatehouse-'));
  folders.push(folder);
  return folder;
}

/** Returns the URL of a SQLite database that does not exist yet. */
export function newSqlite(): string {
  return `sqlite:${join(scratchFolder(memory), 'gatehouse.db')}`;
}

/** A folder in memory, where a commit does not wait for a disk; the usual one where there is none, or little room (64 MB in a container). */
const memory = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 2 ** 31;
  } catch {
    return false;
  }
}
