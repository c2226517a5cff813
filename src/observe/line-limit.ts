import { BoundedCache } from '../lib/bounded-cache.ts';
import { hasElapsed } from '../lib/elapsed.ts';

/** Shortest interval between lines about one thing. */
const sameMs = 60_000;
/** Most lines within that interval: whoever scans or guesses can make up names and sources. */
const linesPerInterval = 60;
const remembered = 10_000;

/** Bounds the lines of the log about one kind of event. */
export class LineLimit {
  readonly #now: () => number;
  readonly #loggedAt = new BoundedCache<string, number>(remembered);
  #since = 0;
  #lines = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether to write a line about it now; `last`: there will be no more for a while. */
  ask(about: string): 'line' | 'last' | 'none' {
    const nowMs = this.#now();
    if (!hasElapsed(this.#loggedAt.get(about) ?? 0, sameMs, nowMs)) return 'none';
    if (hasElapsed(this.#since, sameMs, nowMs)) [this.#since, this.#lines] = [nowMs, 0];
    if (++this.#lines > linesPerInterval) return 'none';
    this.#loggedAt.set(about, nowMs);
    return this.#lines === linesPerInterval ? 'last' : 'line';
  }
}
