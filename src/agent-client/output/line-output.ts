import { write } from 'node:fs';

import { toTerminal } from '../../lib/terminal-text.ts';

/** Bytes that wait for a reader; beyond it lines are left out. */
const maxWaitingBytes = 256 * 1024;
/** Time until the next attempt at a pipe or terminal that takes nothing at the moment. */
const retryMs = 50;
/** Time for the last lines at the end. */
const lastLinesMs = 1000;

/**
 * Writes to a terminal, pipe or file without ever waiting for it: the streams of `process` block the whole program while
 * nobody reads, and visitors must not wait for a pager or a stopped terminal.
 */
export class LineOutput {
  readonly #fd: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  /** True once the reader is gone, as of `| head`; that is no reason to cut off visitors. */
  #isBroken = false;
  #leftOut = 0;
  #done: () => void = () => {};

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** True while what was written before still waits; a picture that is drawn again can be left out then. */
  get isBehind(): boolean {
    return this.#waitingBytes > 0;
  }

  /** Writes text, however much waits. */
  write(text: string): void {
    if (this.#isBroken) return;
    const bytes = Buffer.from(toTerminal(text));
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#isWriting) this.#pump();
  }

  /** Writes a line, or counts it as left out. */
  line(text: string): void {
    if (this.#waitingBytes > maxWaitingBytes) {
      this.#leftOut++;
      return;
    }
    if (this.#leftOut > 0) this.write(`(${this.#leftOut} lines were left out: nobody read them)\n`);
    this.#leftOut = 0;
    this.write(`${text}\n`);
  }

  /** Resolves when everything is written, or when nobody reads it. */
  async flushed(): Promise<void> {
    if (!this.isBehind) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, lastLinesMs);
    this.#done = resolve;
    await promise;
    clearTimeout(timer);
  }

  #pump(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [bytes];
    this.#isWriting = bytes.length > 0;
    if (!this.#isWriting) {
      this.#waiting = [];
      this.#done();
      return;
    }
    write(this.#fd, bytes, (error, written) => {
      if (error !== null && error.code !== 'EAGAIN') {
        this.#break();
        return;
      }
      // The first is what was being written; more may have come behind it.
      this.#waiting[0] = bytes.subarray(error === null ? written : 0);
      this.#waitingBytes -= error === null ? written : 0;
      if (error === null) this.#pump();
      else
        setTimeout(() => {
          this.#pump();
        }, retryMs);
    });
  }

  #break(): void {
    this.#isBroken = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#done();
  }
}
