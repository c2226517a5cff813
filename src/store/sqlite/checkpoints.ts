import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';

import type { CheckpointTask } from './checkpoint-thread.ts';
import type { OpenFile } from './open-file.ts';

/** Size from which on the log is copied while the process runs; a shorter one waits for the end. */
const longBytes = 4 * 1024 * 1024;
/** Time after a commit until the log is copied, with all that has been committed meanwhile. */
const delayMs = 250;

/**
 * Pages of the log beyond which SQLite copies it itself, within a commit. Only writes that never pause get so far: the
 * log begins anew only when all of it has been copied.
 */
export const autocheckpointPages = 8_000;

/**
 * Copies the write-ahead log of a SQLite file into the file, in a thread of its own. SQLite would do it within every commit
 * that finds the log too long, and traffic through this process would wait for the disk.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #file: OpenFile;
  #thread: Worker | undefined;
  /** The log is going to be looked at, or is being copied. */
  #isBusy = false;
  /** Something was committed since it was last looked at. */
  #isDirty = false;
  #isStopped = false;

  constructor(path: string, file: OpenFile) {
    this.#path = path;
    this.#file = file;
  }

  committed(): void {
    this.#isDirty = true;
    if (this.#isBusy || this.#isStopped) return;
    this.#isBusy = true;
    setTimeout(() => void this.#look(), delayMs).unref();
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    this.#isStopped = true;
    const thread = this.#thread;
    if (thread === undefined) return;
    // From here on somebody waits for it.
    thread.ref();
    const exited = new Promise((resolve) => thread.once('exit', resolve));
    send(thread, 'close');
    await exited;
  }

  async #look(): Promise<void> {
    this.#isDirty = false;
    const isLong = this.#thread !== undefined || (await sizeOf(`${this.#path}-wal`)) > longBytes;
    // The thread would open whatever file is there now.
    if (!isLong || this.#isStopped || this.#file.look()) {
      this.#rest();
      return;
    }
    this.#thread ??= this.#start();
    send(this.#thread, 'checkpoint');
  }

  #rest(): void {
    this.#isBusy = false;
    if (this.#isDirty) this.committed();
  }

  #start(): Worker {
    const thread = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { workerData: this.#path });
    thread.on('message', () => {
      this.#rest();
    });
    // Whatever it was, SQLite copies the log itself from now on, when it is longer.
    thread.on('error', () => (this.#isStopped = true));
    thread.on('exit', () => {
      this.#thread = undefined;
      this.#rest();
    });
    thread.unref();
    return thread;
  }
}

function send(thread: Worker, task: CheckpointTask): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.postMessage(task);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    // The file was deleted: the database was closed, or is lost, which others find out.
    return 0;
  }
}
