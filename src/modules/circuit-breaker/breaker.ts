/** Time between trials whose outcome is not known. */
const trialMs = 1000;

export interface BreakerRules {
  /** Share of failing answers, from 0 to 1, above which the breaker opens. */
  readonly threshold: number;
  /** Fewer requests in the window say nothing. */
  readonly leastRequests: number;
  /** Length of the time that is looked at, in parts that are forgotten one by one. */
  readonly windowMs: number;
  readonly parts: number;
  /** Time without requests after the breaker has opened, and after a trial that failed. */
  readonly openMs: number;
}

interface Part {
  readonly startMs: number;
  requests: number;
  failures: number;
}

/** Opens when the share of failures exceeds its threshold, and closes when a later trial succeeds. */
export class Breaker {
  readonly #rules: BreakerRules;
  readonly #now: () => number;
  #parts: Part[] = [];
  /** Sums over all parts. */
  #requests = 0;
  #failures = 0;
  /** Time of the next trial; undefined while requests pass. */
  #trialAt: number | undefined;
  #isTrying = false;

  constructor(rules: BreakerRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
  }

  /** True if a request may pass; while the breaker is open, that is a trial. */
  mayPass(): boolean {
    if (this.#trialAt === undefined) return true;
    const now = this.#now();
    if (now < this.#trialAt) return false;
    this.#trialAt = now + trialMs;
    this.#isTrying = true;
    return true;
  }

  answered(isFailure: boolean): void {
    if (this.#trialAt !== undefined) {
      // Answers to requests that had passed before say nothing new.
      if (this.#isTrying) this.#tried(isFailure);
      return;
    }
    const { leastRequests, threshold, openMs } = this.#rules;
    const part = this.#part();
    part.requests++;
    this.#requests++;
    if (isFailure) {
      part.failures++;
      this.#failures++;
    }
    if (this.#requests >= leastRequests && this.#failures / this.#requests > threshold)
      this.#trialAt = this.#now() + openMs;
  }

  #part(): Part {
    const { windowMs, parts } = this.#rules;
    const now = this.#now();
    const last = this.#parts.at(-1);
    if (last !== undefined && now < last.startMs + windowMs / parts) return last;
    const part = { startMs: now, requests: 0, failures: 0 };
    this.#keep([...this.#parts.filter(({ startMs }) => startMs > now - windowMs), part]);
    return part;
  }

  #tried(isFailure: boolean): void {
    this.#isTrying = false;
    this.#keep([]);
    this.#trialAt = isFailure ? this.#now() + this.#rules.openMs : undefined;
  }

  #keep(parts: Part[]): void {
    this.#parts = parts;
    this.#requests = parts.reduce((sum, { requests }) => sum + requests, 0);
    this.#failures = parts.reduce((sum, { failures }) => sum + failures, 0);
  }
}
