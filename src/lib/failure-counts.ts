export interface SourceFailures {
  readonly source: string;
  readonly failures: number;
  /** Failures that were refused instead of answered. */
  readonly refused: number;
}

/** Told of the failures of a minute: those of the sources that failed most, and those of all others together. */
export type FailureReport = (sources: readonly SourceFailures[], others: Omit<SourceFailures, 'source'>) => void;

interface Count {
  failures: number;
  refused: number;
}

const windowMs = 60_000;
/** Sources that are reported one by one, those with the most failures first; the others are added up. */
const reportedSources = 100;

/**
 * Counts failures by their source, within windows of a minute. Memory is bounded: sources beyond the limit share one count,
 * so that no number of them goes uncounted.
 */
export class FailureCounts implements Disposable {
  readonly #sources: number;
  readonly #report: FailureReport;
  #counts = new Map<string, Count>();
  #others: Count = { failures: 0, refused: 0 };
  #endsAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Counts so many sources apart. `report` is called at the end of each window in which something failed. */
  constructor(sources: number, report: FailureReport = () => {}) {
    this.#sources = sources;
    this.#report = report;
  }

  /** Seconds until sources are counted anew, 1 to 60. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#endsAtMs - performance.now()) / 1000));
  }

  /** Counts a failure, without a source as one of the others. Returns the count that the source has, or shares. */
  add(source: string | undefined): Count {
    this.#beginWindow();
    const count = source === undefined ? this.#others : (this.find(source) ?? this.#begin(source));
    count.failures += 1;
    return count;
  }

  /** The count of a source that has failed in this window, if it is counted apart. */
  find(source: string): Count | undefined {
    return this.#counts.get(source);
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

  #begin(source: string): Count {
    if (this.#counts.size >= this.#sources) return this.#others;
    const count = { failures: 0, refused: 0 };
    this.#counts.set(source, count);
    return count;
  }
}
