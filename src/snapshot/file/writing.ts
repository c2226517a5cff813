import { Worker } from 'node:worker_threads';

import type { Sealer } from '../../lib/sealed-secret.ts';
import type { SnapshotUpdate } from '../contract.ts';
import { packUpdate } from '../packed-entries.ts';
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
    let before: Extract<WriterTask, { task: 'write' }> = {
      task: 'write',
      begin: { isFull: update.full, writer: head.writer },
      entries: { keys: '[]', ends: [], bytes: new Uint8Array() },
    };
    try {
      let isFirst = true;
      for await (const entries of packUpdate(update, this.#sealer)) {
        if (!isFirst) {
          await this.#ask(before, [before.entries.bytes.buffer]);
          before = { task: 'write', entries };
        } else before = { ...before, entries };
        isFirst = false;
      }
      await this.#ask({ ...before, commit: head }, [before.entries.bytes.buffer]);
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

  #ask(task: WriterTask, given: readonly ArrayBuffer[] = []): Promise<void> {
    const thread = (this.#thread ??= this.#start());
    this.#waiting = Promise.withResolvers();
    // Somebody waits for it.
    thread.ref();
    thread.postMessage(task, given);
    return this.#waiting.promise;
  }

  #start(): Worker {
    const thread = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: this.#path });
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
