/**
 * Waits between attempts to connect: the first is made at once, each further one after half to all of a time of the list, of
 * which the last one holds for ever. Agents that lost the same server then do not all come back at the same moment.
 */
export class Backoff {
  readonly #longestMs: readonly number[];
  readonly #random: () => number;
  #attempts = 0;

  constructor(longestMs: readonly number[], random: () => number = Math.random) {
    this.#longestMs = longestMs;
    this.#random = random;
  }

  /** Milliseconds to wait before the next attempt. */
  next(): number {
    const attempt = this.#attempts++;
    if (attempt === 0) return 0;
    const longest = this.#longestMs[Math.min(attempt, this.#longestMs.length) - 1] ?? 0;
    return longest * (0.5 + this.#random() / 2);
  }

  reset(): void {
    this.#attempts = 0;
  }
}
