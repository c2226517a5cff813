import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Host } from '../command-line/host.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { findFiles } from './files/read-files.ts';
import { toFault } from './server.ts';

/** Looked at so often: folders that are mounted tell nobody when they change. */
const lookEveryMs = 500;
/** After a fault of the server or the line, the same files are tried again. */
const retryAfterMs = 5_000;

/** Runs `apply` at once and after each change of the files, until the process is told to stop. */
export async function watchFiles(paths: readonly string[], host: Host, apply: () => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) host.once(signal, () => stopping.abort());
  let applied: string | undefined;
  let retryAtMs = Number.POSITIVE_INFINITY;
  while (!stopping.signal.aborted) {
    const now = await fingerprint(paths);
    if (now !== applied || performance.now() >= retryAtMs) {
      host.stdout.write(`${new Date().toISOString()} applying ${paths.join(', ')}\n`);
      const mayPass = await attempt(host, apply);
      retryAtMs = mayPass ? performance.now() + retryAfterMs : Number.POSITIVE_INFINITY;
      applied = now;
    }
    await sleep(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
  }
}

/** True if the fault may pass by itself. */
async function attempt({ stdout }: Host, apply: () => Promise<void>): Promise<boolean> {
  try {
    await apply();
    return false;
  } catch (error) {
    const { message, exitCode } = toFault(error);
    stdout.write(`not applied: ${message}\n`);
    return exitCode !== exitCodes.fault;
  }
}

/** Differs when any of the files has changed, come or gone. */
async function fingerprint(paths: readonly string[]): Promise<string> {
  try {
    const facts: string[] = [];
    for (const file of await findFiles(paths)) {
      const { mtimeMs, size, ino } = await stat(file);
      facts.push(`${file} ${mtimeMs} ${size} ${ino}`);
    }
    return facts.join('\n');
  } catch (error) {
    // A file may go while it is looked at; a folder may be missing for a while.
    return error instanceof CommandFault ? error.message : 'unreadable';
  }
}
