import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

import { createKeySealer } from '../lib/sealed-secret.ts';
import { isLocked } from './file/lock.ts';
import { SnapshotFile } from './snapshot-file.ts';

const folderPrefix = 'gatehouse-gateway-';
/** Time in which a process takes the lock of its file. */
const freshMs = 60_000;
const fileName = 'gateway.snapshot';

interface TemporaryFile extends AsyncDisposable {
  readonly file: SnapshotFile;
}

/** A snapshot file for the processes of one gateway, in a folder of its own, with secrets sealed by a key that no other process knows. */
export function openTemporaryFile(onFault: (error: unknown) => void): TemporaryFile {
  removeLeft();
  const folder = makeFolder();
  const sealer = createKeySealer(randomBytes(32));
  const file = new SnapshotFile(join(folder, fileName), sealer, '', onFault, { isKept: false });
  return {
    file,
    [Symbol.asyncDispose]: async () => {
      await file[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where there can be none, writing to the file says so. */
function makeFolder(): string {
  const prefix = join(tmpdir(), folderPrefix);
  try {
    return mkdtempSync(prefix);
  } catch {
    return `${prefix}${randomBytes(6).toString('hex')}`;
  }
}

/** Folders of processes that were killed. */
function removeLeft(): void {
  try {
    for (const name of readdirSync(tmpdir())) {
      const path = join(tmpdir(), name);
      if (name.startsWith(folderPrefix) && isOwn(path) && !isLocked(join(path, fileName)))
        rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // It stays until the next start.
  }
}

/** True for a folder that nobody else can write, and that no process has made just now. */
function isOwn(path: string): boolean {
  const found = lstatSync(path);
  const isFresh = Date.now() - found.mtimeMs < freshMs;
  return found.isDirectory() && found.uid === userInfo().uid && (found.mode & 0o077) === 0 && !isFresh;
}
