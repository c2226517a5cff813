import type { RateReport } from '../engine.ts';
import { windowMsOf } from './rate-message.ts';

interface Untold {
  readonly rule: string;
  readonly window: number;
  readonly counts: Map<string, number>;
}

/** Keys that wait at once; those beyond are not told. */
const mostKeys = 100_000;

/** Counts that one other gateway has not been told yet, added up by key. */
export class UntoldRates {
  readonly #windows = new Map<string, Untold>();
  #keys = 0;

  get isEmpty(): boolean {
    return this.#keys === 0;
  }

  /** Returns the number of requests that will not be told. */
  add(reports: readonly RateReport[]): number {
    let dropped = 0;
    for (const { rule, window, counted } of reports) {
      const { counts } = this.#window(rule, window);
      for (const [key, requests] of counted) {
        const before = counts.get(key);
        if (before === undefined && this.#keys >= mostKeys) dropped += requests;
        else {
          if (before === undefined) this.#keys += 1;
          counts.set(key, (before ?? 0) + requests);
        }
      }
    }
    return dropped;
  }

  /** Removes and returns so many keys, the oldest first, without those whose window is of no use any more. */
  take(most: number, now: number): readonly RateReport[] {
    this.forgetOld(now);
    const reports: RateReport[] = [];
    let left = most;
    for (const [name, { rule, window, counts }] of this.#windows) {
      if (left === 0) break;
      const counted = counts.size <= left ? [...counts] : [...counts.entries().take(left)];
      left -= counted.length;
      this.#keys -= counted.length;
      if (counted.length === counts.size) this.#windows.delete(name);
      else for (const [key] of counted) counts.delete(key);
      if (counted.length > 0) reports.push({ rule, window, counted, refused: 0, warned: 0 });
    }
    return reports;
  }

  forgetOld(now: number): void {
    for (const [name, { rule, window, counts }] of this.#windows) {
      const age = Math.floor(now / windowMsOf(rule)) - window;
      if (age === 0 || age === 1) continue;
      this.#keys -= counts.size;
      this.#windows.delete(name);
    }
  }

  #window(rule: string, window: number): Untold {
    const name = `${window} ${rule}`;
    const found = this.#windows.get(name);
    if (found !== undefined) return found;
    const made = { rule, window, counts: new Map<string, number>() };
    this.#windows.set(name, made);
    return made;
  }
}
