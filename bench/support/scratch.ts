import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: Promise<string> | undefined;

/** Makes the folder for all files of a run, which is removed when the run ends. */
export function scratchFolder(): Promise<string> {
  return (folder ??= makeFolder());
}

async function makeFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  process.once('exit', () => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}
