/** Seconds in which a budget that is used up becomes full again. */
const refillSeconds = 20;

/**
 * Counts requests that a client has cancelled before their answer. The budget fills up again with time: a browser that
 * leaves a page now and then never uses it up, a client that only makes work does so within moments.
 */
export class ResetBudget {
  readonly #size: number;
  #left: number;
  #countedAt = performance.now();

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** Returns false if there were too many. */
  spend(): boolean {
    const now = performance.now();
    const refilled = (this.#size / refillSeconds) * ((now - this.#countedAt) / 1000);
    this.#left = Math.min(this.#size, this.#left + refilled) - 1;
    this.#countedAt = now;
    return this.#left >= 0;
  }
}
