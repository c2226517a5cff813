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

/** Told what became of a request that was let through. */
export interface Attempt {
  answered(status: number): void;
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
  /** Another one after each decision: answers to requests from before it say nothing of the upstream as it is now. */
  #attempt = this.#newAttempt();

  constructor(rules: BreakerRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
  }

  /** Undefined if the request may not pass. While the breaker is open, it is a trial. */
  attempt(): Attempt | undefined {
    if (this.#trialAt === undefined) return this.#attempt;
    const now = this.#now();
    if (now < this.#trialAt) return undefined;
    this.#trialAt = now + trialMs;
    return this.#attempt;
  }

  #newAttempt(): Attempt {
    const attempt: Attempt = {
      answered: (status) => {
        if (this.#attempt === attempt) this.#answered(status >= 500);
      },
    };
    return attempt;
  }

  #answered(isFailure: boolean): void {
    if (this.#trialAt !== undefined) {
      this.#keep([]);
      this.#decide(isFailure);
      return;
    }
    const { leastRequests, threshold } = this.#rules;
    const part = this.#part();
    part.requests++;
    this.#requests++;
    if (isFailure) {
      part.failures++;
      this.#failures++;
    }
    if (this.#requests >= leastRequests && this.#failures / this.#requests > threshold) this.#decide(true);
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

  #decide(isOpen: boolean): void {
    this.#trialAt = isOpen ? this.#now() + this.#rules.openMs : undefined;
    this.#attempt = this.#newAttempt();
  }

  #keep(parts: Part[]): void {
    this.#parts = parts;
    this.#requests = parts.reduce((sum, { requests }) => sum + requests, 0);
    this.#failures = parts.reduce((sum, { failures }) => sum + failures, 0);
  }
}
