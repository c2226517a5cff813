import { setTimeout as sleep } from 'node:timers/promises';

import { FailureCounts } from './failure-counts.ts';
import type { FailureReport } from './failure-counts.ts';
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

const delayMs = 1_000;

/** Slows down, then refuses, sources that fail too often within a minute, such as at guessing credentials. */
export class FailureLimiter implements Disposable {
  readonly #limits: FailureLimits;
  readonly #counts: FailureCounts;
  #held = 0;

  /** `report` is called at the end of each minute in which something failed. */
  constructor(limits: FailureLimits, report: FailureReport) {
    this.#limits = limits;
    this.#counts = new FailureCounts(limits.sources, report);
  }

  /** Counts a failure; resolves when it may be answered. Success is never asked about. */
  async failed(address: IpAddress): Promise<FailureVerdict> {
    const { prompt, slowed, held } = this.#limits;
    const source = formatSourceKey(sourceKey(address));
    const count = this.#counts.add(source);
    const { retryAfterSeconds } = this.#counts;
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
    this.#counts.endWindow();
  }

  [Symbol.dispose](): void {
    this.endWindow();
  }
}
