import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder of what Node has compiled already, for all runs of this user. */
export const compileCache = join(tmpdir(), `gatehouse-compile-cache-${process.getuid?.() ?? 0}`);

const weekMs = 7 * 24 * 3_600_000;

/** Deletes compiled code that no run has read or written for a week: each change of a file leaves the code of its old text. */
export function deleteUnusedCode(folder: string): void {
  if (!existsSync(folder)) return;
  const since = Date.now() - weekMs;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    // Another run may have deleted it meanwhile.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === true && Math.max(found.atimeMs, found.mtimeMs) < since) rmSync(path, { force: true });
  }
}
