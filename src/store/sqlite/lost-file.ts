import { existsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time for which a file may be empty while another process makes a database of it. */
const creationMs = 2_000;
const lookAgainMs = 20;

/**
 * Throws where a database was and is no more: a start over it would be a first start, which makes an account and takes the
 * bootstrap token again, perhaps one that was revoked long ago. A file that is gone without a trace cannot be told from
 * one that never was.
 */
export async function refuseLostFile(path: string): Promise<void> {
  if (!existsSync(path)) {
    if (!existsSync(`${path}-wal`)) return;
    // The database comes before its log, and leaves after it.
    throw new Error(
      `the database ${path} is gone, but its log ${path}-wal is there. Put the database back, or restore a backup; ` +
        'to start anew, as a first start, move the log away too.',
    );
  }
  const endMs = performance.now() + creationMs;
  while (statSync(path).size === 0) {
    if (performance.now() > endMs) throw lostContents(path);
    await sleep(lookAgainMs);
  }
}

function lostContents(path: string): Error {
  return new Error(
    `the database ${path} is an empty file: what was in it is lost. Restore a backup over it; ` +
      'to start anew, as a first start, remove the file.',
  );
}
