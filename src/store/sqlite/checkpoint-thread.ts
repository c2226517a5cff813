import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

export type CheckpointTask = 'checkpoint' | 'close';

/** The thread of `Checkpoints`: waits for nobody, and nobody waits for it. */
const database = new DatabaseSync(String(workerData));
// So that what the log no longer holds is on the disk.
database.exec('PRAGMA synchronous = FULL');

parentPort?.on('message', (task: CheckpointTask) => {
  if (task === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // A full or failing disk is reported where something is written.
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage('done');
});
