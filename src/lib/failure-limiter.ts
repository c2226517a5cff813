import { setTimeout as sleep } from 'node:timers/promises';

import type { IpAddress } from './ip/address.ts';
import { formatSourceKey, sourceKey } from './ip/source-key.ts';

export interface FailureLimits {
  /** Failures of one source within a minute that are answered at once. */
  readonly prompt: number;
  /** Failures after those that are answered late; all further ones are refused. */
  readonly slowed: number;
  /** Late answers that may wait at the same time; with more, failures are refused instead. */
  readonly held: number;
  /** Sources that are counted apart; all others share one count. */
  readonly sources: number;
}

export type FailureAnswer = 'prompt' | 'slowed' | 'refused';

export interface FailureVerdict {
  readonly answer: FailureAnswer;
  /** The address, or the /64 of an IPv6 address. */
  readonly source: string;
  /** Seconds until the source is counted anew, 1 to 60. */
  readonly retryAfterSeconds: number;
}

export interface SourceFailures {
  readonly source: string;
  readonly failures: number;
  /** Those of them that were refused instead of answered. */
  readonly refused: number;
}

/** Told of the failures of a minute: those of the sources that failed most, and those of all others together. */
export type FailureReport = (sources: readonly SourceFailures[], others: Omit<SourceFailures, 'source'>) => void;

interface Count {
  failures: number;
  refused: number;
}

const windowMs = 60_000;
const delayMs = 1_000;
/** Sources that are reported one by one, those with the most failures first; the others are added up. */
const reportedSources = 100;

/**
 * Slows down, then refuses, sources that fail too often, such as at guessing credentials. Counts within windows of a
 * minute. Memory is bounded: sources beyond the limit share one count, so that no number of them goes uncounted.
 */
export class FailureLimiter implements Disposable {
  readonly #limits: FailureLimits;
  readonly #report: FailureReport;
  #counts = new Map<string, Count>();
  #others: Count = { failures: 0, refused: 0 };
  #endsAtMs = 0;
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `report` is called at the end of each minute in which something failed. */
  constructor(limits: FailureLimits, report: FailureReport) {
    this.#limits = limits;
    this.#report = report;
  }

  /** Counts a failure; resolves when it may be answered. Success is never asked about. */
  async failed(address: IpAddress): Promise<FailureVerdict> {
    const { prompt, slowed, held } = this.#limits;
    this.#beginWindow();
    const source = formatSourceKey(sourceKey(address));
    const count = this.#countOf(source);
    count.failures += 1;
    const retryAfterSeconds = Math.max(1, Math.ceil((this.#endsAtMs - performance.now()) / 1000));
    if (count.failures <= prompt) return { answer: 'prompt', source, retryAfterSeconds };
    if (count.failures > prompt + slowed || this.#held >= held) {
      count.refused += 1;
      return { answer: 'refused', source, retryAfterSeconds };
    }
    this.#held += 1;
    await sleep(delayMs);
    this.#held -= 1;
    return { answer: 'slowed', source, retryAfterSeconds };
  }

  /** Reports the window and forgets its counts. */
  endWindow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [counts, others] = [this.#counts, this.#others];
    this.#counts = new Map();
    this.#others = { failures: 0, refused: 0 };
    if (counts.size === 0) return;
    const all = [...counts].map(([source, count]) => ({ source, ...count }));
    const sorted = all.toSorted((a, b) => b.failures - a.failures);
    for (const { failures, refused } of sorted.slice(reportedSources)) {
      others.failures += failures;
      others.refused += refused;
    }
    this.#report(sorted.slice(0, reportedSources), others);
  }

  [Symbol.dispose](): void {
    this.endWindow();
  }

  #beginWindow(): void {
    if (this.#timer !== undefined) return;
    this.#endsAtMs = performance.now() + windowMs;
    this.#timer = setTimeout(() => {
      this.endWindow();
    }, windowMs).unref();
  }

  #countOf(source: string): Count {
    const known = this.#counts.get(source);
    if (known !== undefined) return known;
    if (this.#counts.size >= this.#limits.sources) return this.#others;
    const count = { failures: 0, refused: 0 };
    this.#counts.set(source, count);
    return count;
  }
}
