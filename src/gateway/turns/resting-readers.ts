import { FairQueue } from '../../lib/fair-queue.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';

/** Part of the time that readers with very many small pieces get together. */
const share = 0.1;
/** Time in which others are read first, however little was spent. */
const shortestRestMs = 5;
/** The largest cost that is counted at once: a process that was stopped for a while must not keep readers waiting for as long. */
const mostSpentMs = 25;

/** Readers that have brought more than their share. They go on one at a time, by turns between their owners. */
class RestingReaders {
  readonly #queue = new FairQueue<() => boolean, SourceKey>();
  #timer: NodeJS.Timeout | undefined;
  /** Value of `performance.now()` from which on the next one may go on. */
  #freeAt = 0;

  /** `goOn` returns false if nobody reads any more: then it is the next one's turn. */
  add(owner: SourceKey, goOn: () => boolean): void {
    this.#queue.push(owner, goOn);
    this.#wait();
  }

  /** Counts what one of them has cost. */
  spent(costMs: number): void {
    this.#freeAt = Math.max(this.#freeAt, performance.now()) + Math.min(costMs, mostSpentMs) / share;
  }

  #wait(): void {
    if (this.#timer !== undefined || this.#queue.isEmpty) return;
    const restMs = Math.max(shortestRestMs, this.#freeAt - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (performance.now() >= this.#freeAt) this.#next();
      this.#wait();
    }, restMs);
  }

  #next(): void {
    for (let goOn = this.#queue.take(); goOn !== undefined; goOn = this.#queue.take()) if (goOn()) return;
  }
}

export const restingReaders = new RestingReaders();
