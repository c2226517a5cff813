import { Worker } from 'node:worker_threads';

import type { Sealer } from '../../lib/sealed-secret.ts';
import type { SnapshotUpdate } from '../contract.ts';
import { partsOf } from '../update-parts.ts';
import type { FileHead } from './format.ts';
import type { WriterReply, WriterTask } from './writer-thread.ts';

/** The thread that writes a snapshot file: it is there while something is written, and from then on. */
export class WritingThread implements AsyncDisposable {
  readonly #path: string;
  readonly #sealer: Sealer;
  #thread: Worker | undefined;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(path: string, sealer: Sealer) {
    this.#path = path;
    this.#sealer = sealer;
  }

  /** Resolves when the file is of the update's version. Rejects with the file as it was. Must not be called before the last call has ended. */
  async write(update: SnapshotUpdate, head: FileHead): Promise<void> {
    const begin = { isFull: update.full, writer: head.writer };
    let before: Extract<WriterTask, { task: 'write' }> | undefined;
    try {
      for await (const part of partsOf(update, this.#sealer)) {
        if (before !== undefined) await this.#ask(before);
        before = { task: 'write', part, ...(before === undefined && { begin }) };
      }
      if (before !== undefined) await this.#ask({ ...before, commit: head });
    } catch (error) {
      await this.#ask({ task: 'abandon' });
      throw error;
    }
  }

  /** Resolves when the file is closed, and what was written is in the file itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    const exited = new Promise((resolve) => thread.once('exit', resolve));
    await this.#ask({ task: 'close' });
    thread.ref();
    await exited;
  }

  #ask(task: WriterTask): Promise<void> {
    const thread = (this.#thread ??= this.#start());
    // Somebody waits for it.
    thread.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(task);
    const waiting = Promise.withResolvers<void>();
    this.#waiting = waiting;
    return waiting.promise;
  }

  #start(): Worker {
    const thread = new Worker(new URL('./writer-thread.ts', import.meta.url), {
      workerData: this.#path,
      // Memory of entries that have been written is given back soon.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    const end = (error?: Error): void => {
      thread.unref();
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (error === undefined) waiting?.resolve();
      else waiting?.reject(error);
    };
    thread.on('message', (reply: WriterReply) => {
      end(reply);
    });
    thread.on('error', (error) => {
      this.#thread = undefined;
      end(error instanceof Error ? error : new Error(String(error)));
    });
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
      end(new Error('the thread that writes the snapshot file has ended'));
    });
    return thread;
  }
}
