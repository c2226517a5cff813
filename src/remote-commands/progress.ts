import type { Host } from '../command-line/host.ts';
import { controlSequence } from '../lib/terminal-text.ts';

/** Work that is done sooner shows nothing. */
const quietMs = 1_000;
const everyMs = 100;
const eraseLine = controlSequence('G') + controlSequence('K');

/** A line on standard error about long work, on a terminal only; it is gone when the work is done. */
export class Progress implements Disposable {
  readonly #stderr: Host['stderr'];
  readonly #noun: string;
  #nextMs = performance.now() + quietMs;
  #isShown = false;

  constructor({ stderr }: Pick<Host, 'stderr'>, noun: string) {
    this.#stderr = stderr;
    this.#noun = noun;
  }

  show(done: number, all?: number): void {
    if (!this.#stderr.isTTY || performance.now() < this.#nextMs) return;
    this.#nextMs = performance.now() + everyMs;
    this.#isShown = true;
    const width = 24;
    const filled = all === undefined || all === 0 ? 0 : Math.round((done / all) * width);
    const bar = all === undefined ? '' : `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] `;
    this.#stderr.write(`${eraseLine}${bar}${done}${all === undefined ? '' : ` of ${all}`} ${this.#noun}`);
  }

  [Symbol.dispose](): void {
    if (this.#isShown) this.#stderr.write(eraseLine);
  }
}
