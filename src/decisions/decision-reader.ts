import { hasElapsed } from '../lib/elapsed.ts';
import { FairTurns } from '../lib/fair-turns.ts';
import { AbandonedError } from '../lib/pace.ts';

/** Queries at once, of all accounts and of one; a few more of one wait. */
export const readLimits = { atOnce: 2, ofOwner: 1, waiting: 4 };
/** Longer than the keeper takes for any query. */
const usualAnswerMs = 15_000;
/** Shortest interval between two log lines about queries that fail. */
const logMs = 60_000;

interface Parts {
  readonly log: { warn(fields: object, message: string): void };
  readonly answerMs?: number | undefined;
}

/** Decisions cannot be read for now; the cause is in the log. */
export class DecisionsUnreadable extends Error {
  override readonly name = 'DecisionsUnreadable';
}

/** Reads decisions by turns between accounts, so that queries of one do not hold up those of another. */
export class DecisionReader {
  readonly #parts: Parts;
  readonly #turns = new FairTurns(readLimits);
  #loggedMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects with `TooMuchWaits`, `AbandonedError` or `DecisionsUnreadable`. */
  async read<Result>(
    accountId: string,
    ask: () => Promise<Result>,
    isAbandoned: () => boolean = () => false,
  ): Promise<Result> {
    return this.#turns.run(accountId, async () => {
      if (isAbandoned()) throw new AbandonedError('nobody waits for it any more');
      try {
        return await this.#inTime(ask);
      } catch (error) {
        this.#tell(error);
        throw new DecisionsUnreadable('decisions cannot be read for now', { cause: error });
      }
    });
  }

  async #inTime<Result>(ask: () => Promise<Result>): Promise<Result> {
    const { promise: overdue, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new Error('the process that keeps decisions does not answer'));
    }, this.#parts.answerMs ?? usualAnswerMs);
    try {
      return await Promise.race([ask(), overdue]);
    } finally {
      clearTimeout(timer);
    }
  }

  #tell(error: unknown): void {
    const nowMs = Date.now();
    if (!hasElapsed(this.#loggedMs, logMs, nowMs)) return;
    this.#loggedMs = nowMs;
    this.#parts.log.warn({ err: error }, 'decisions about visitors cannot be read for now');
  }
}
