import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { scratchFolder } from './scratch.ts';

/**
 * Returns an environment in which each fsync takes `delayUs` longer than the disk needs, or undefined if there is no C
 * compiler to build the library for it.
 */
export async function slowFsync(delayUs: number): Promise<Readonly<Record<string, string>> | undefined> {
  const source = new URL('slow-fsync.c', import.meta.url).pathname;
  const library = join(await scratchFolder(), 'slow-fsync.so');
  const built = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  return built.status === 0 ? { LD_PRELOAD: library, DELAY_US: String(delayUs) } : undefined;
}
