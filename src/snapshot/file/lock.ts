import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Code of SQLite for what another one has locked. */
const busy = 5;

const lockPath = (path: string): string => `${path}.lock`;

/** Takes the right to write a snapshot file. The system lets go of it when the process ends, however it does. */
export function takeLock(path: string): Disposable {
  const lock = new DatabaseSync(lockPath(path));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!(error instanceof Error && 'errcode' in error && error.errcode === busy)) throw error;
    throw new Error(`another gateway writes ${path}: give each a file of its own with --snapshot-file`, {
      cause: error,
    });
  }
  return lock;
}

/** True while a process has the right to write the file. */
export function isLocked(path: string): boolean {
  if (statSync(lockPath(path), { throwIfNoEntry: false }) === undefined) return false;
  try {
    takeLock(path)[Symbol.dispose]();
    return false;
  } catch {
    return true;
  }
}
