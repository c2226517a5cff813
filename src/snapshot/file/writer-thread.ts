import { parentPort, workerData } from 'node:worker_threads';

import type { UpdatePart } from '../update-parts.ts';
import type { FileHead } from './format.ts';
import { SnapshotWriter } from './writer.ts';

/** A part of an update, or its end. */
export type WriterTask =
  | {
      readonly task: 'write';
      /** The first part of an update that is whole, or is not. */
      readonly begin?: { readonly isFull: boolean; readonly writer: string };
      readonly part: UpdatePart;
      /** The last part. */
      readonly commit?: FileHead;
    }
  | { readonly task: 'abandon' }
  | { readonly task: 'close' };

/** Undefined where the task was done. */
export type WriterReply = Error | undefined;

let writer: SnapshotWriter | undefined;

parentPort?.on('message', (task: WriterTask) => {
  const reply = attempt(task);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(reply);
  if (task.task === 'close') parentPort?.close();
});

function attempt(task: WriterTask): WriterReply {
  try {
    perform(task);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function perform(task: WriterTask): void {
  if (task.task === 'close') {
    writer?.[Symbol.dispose]();
    writer = undefined;
  } else if (task.task === 'abandon') writer?.abandon();
  else {
    writer ??= new SnapshotWriter(String(workerData));
    if (task.begin !== undefined) writer.begin(task.begin);
    writer.put(task.part);
    if (task.commit !== undefined) writer.commit(task.commit);
  }
}
