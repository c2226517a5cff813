/** Waits between attempts to connect. */
export interface BackoffTimes {
  /** Longest wait before the second attempt; it doubles with each further one. */
  readonly baseMs: number;
  /** Longest wait of all. */
  readonly capMs: number;
}

/**
 * Exponential back-off with full jitter: the first attempt is made at once, each further one after a random part of a
 * time that doubles. Agents that lost the same server then do not all come back at the same moment.
 */
export class Backoff {
  readonly #times: BackoffTimes;
  readonly #random: () => number;
  #attempts = 0;

  constructor(times: BackoffTimes, random: () => number = Math.random) {
    this.#times = times;
    this.#random = random;
  }

  /** Milliseconds to wait before the next attempt. */
  next(): number {
    const { baseMs, capMs } = this.#times;
    const attempt = this.#attempts++;
    return attempt === 0 ? 0 : this.#random() * Math.min(capMs, baseMs * 2 ** (attempt - 1));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
