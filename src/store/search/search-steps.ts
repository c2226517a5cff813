import { Pace } from '../../lib/pace.ts';
import { comparisonsOf } from './condition.ts';
import type { Condition } from './condition.ts';

/**
 * Bytes that one step of a search may compare: SQLite takes about 10 ms for them where texts are hardest to tell apart,
 * and everybody else waits meanwhile.
 */
const stepBytes = 1_500_000;
/** A comparison costs at least as much as one of so many bytes. */
const leastBytes = 200;
const firstStepRows = 10;
const mostStepRows = 200;
/** Time that the steps of one search may take together: a filter that is slow for each row ends before its bound of rows. */
const searchMs = 5_000;

/** Cuts a search into steps by the work that they are: rows, their sizes, and the comparisons made for each. */
export class SearchSteps {
  readonly condition: Condition;
  /** The account that searches. */
  readonly searcher: string;
  readonly #comparisons: number;
  readonly #pace: Pace;
  #most = firstStepRows;
  #spentMs = 0;

  constructor(condition: Condition, searcher: string, isAbandoned: () => boolean) {
    this.condition = condition;
    this.searcher = searcher;
    this.#pace = new Pace(isAbandoned);
    this.#comparisons = comparisonsOf(condition);
  }

  get isOutOfTime(): boolean {
    return this.#spentMs >= searchMs;
  }

  /** Rows of the next step; `sizes` are those of the rows that follow, in bytes. Steps grow: a page is often full early. */
  next(sizes: readonly number[]): number {
    const most = Math.min(this.#most, sizes.length);
    this.#most = Math.min(this.#most * 2, mostStepRows);
    let bytes = 0;
    for (let rows = 0; rows < most; rows++) {
      bytes += this.#comparisons * (leastBytes + (sizes[rows] ?? 0));
      if (bytes > stepBytes) return Math.max(rows, 1);
    }
    return most;
  }

  /** Runs a step when others have had their turn, and counts its time. Throws where the search is abandoned. */
  async run<Result>(step: () => Result | Promise<Result>): Promise<Result> {
    if (this.#pace.isDue) await this.#pace.giveWay();
    const beganMs = performance.now();
    const result = await step();
    this.#spentMs += performance.now() - beganMs;
    return result;
  }
}

/** Rows whose sizes are read at once. */
export const sizesAtOnce = mostStepRows;
