/** A worker that lived this long had started well: its end is not counted as a failure to start. */
const provenMs = 10_000;
const longestPauseMs = 10_000;
/** So many that ended soon after their start, one after another, are no accident. */
const loopAfter = 3;

/** Says how soon another worker follows one that has ended, or that could not be started. */
export class Restarts {
  readonly #now: () => number;
  /** Starts since a worker has lived long enough. */
  #tries = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get tries(): number {
    return this.#tries;
  }

  /** Counts the end of a worker that has started then. Returns true if workers end again and again. */
  ended(startedMs: number): boolean {
    if (this.#now() - startedMs > provenMs) this.#tries = 0;
    return this.#tries >= loopAfter;
  }

  /** Counts a start, and returns the pause before it. */
  nextPauseMs(): number {
    const pauseMs = this.#tries === 0 ? 0 : Math.min(longestPauseMs, 50 * 2 ** this.#tries);
    this.#tries++;
    return pauseMs;
  }
}
