import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { scratchFolder } from './scratch.ts';

/**
 * Environment in which each fsync takes so much longer than on this machine's disk. Undefined where there is no C
 * compiler to build the few lines for it.
 */
export async function slowFsync(delayUs: number): Promise<Readonly<Record<string, string>> | undefined> {
  const source = new URL('slow-fsync.c', import.meta.url).pathname;
  const library = join(await scratchFolder(), 'slow-fsync.so');
  const built = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  return built.status === 0 ? { LD_PRELOAD: library, DELAY_US: String(delayUs) } : undefined;
}
