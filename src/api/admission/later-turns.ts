import { FairQueue } from '../../lib/fair-queue.ts';

/** Others have so many times as long as one of these has taken, before the next one goes on. */
const restFactor = 4;
/** The largest cost that is counted: a process that was stopped for a while must not keep everybody waiting for as long. */
const mostCostMs = 10;

/**
 * Work of connections that have brought more than fits into a turn of the event loop. One goes on at a time, by turns between
 * their owners, and all together get a fifth of the time: nobody else notices how much they have brought.
 */
export class LaterTurns {
  readonly #queue = new FairQueue<() => void>();
  #isScheduled = false;

  push(owner: string, goOn: () => void): void {
    this.#queue.push(owner, goOn);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const beganMs = performance.now();
    this.#queue.take()?.();
    // Answers are written by callbacks, which run before this.
    setImmediate(() => {
      const costMs = Math.min(performance.now() - beganMs, mostCostMs);
      setTimeout(this.#next, costMs * restFactor);
    });
  };

  readonly #next = (): void => {
    if (this.#queue.isEmpty) this.#isScheduled = false;
    else setImmediate(this.#run);
  };
}
