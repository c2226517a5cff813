/** Length of the time that is looked at, in parts that are forgotten one by one. */
const windowMs = 10_000;
const parts = 10;
/** Fewer requests in the window say nothing. */
const leastRequests = 10;
/** Time without requests after the breaker has opened, and after a trial that failed. */
const openMs = 10_000;
/** Time between trials whose outcome is not known. */
const trialMs = 1000;

interface Part {
  readonly startMs: number;
  requests: number;
  failures: number;
}

/** Opens when the share of failures exceeds its threshold, and closes when a later trial succeeds. */
export class Breaker {
  readonly #threshold: number;
  readonly #now: () => number;
  #parts: Part[] = [];
  /** Time of the next trial; undefined while requests pass. */
  #trialAt: number | undefined;
  #isTrying = false;

  constructor(threshold: number, now: () => number) {
    this.#threshold = threshold;
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
    const part = this.#part();
    part.requests++;
    if (isFailure) part.failures++;
    let [requests, failures] = [0, 0];
    for (const each of this.#parts) {
      requests += each.requests;
      failures += each.failures;
    }
    if (requests >= leastRequests && failures / requests > this.#threshold) this.#trialAt = this.#now() + openMs;
  }

  #part(): Part {
    const now = this.#now();
    const last = this.#parts.at(-1);
    if (last !== undefined && now < last.startMs + windowMs / parts) return last;
    const part = { startMs: now, requests: 0, failures: 0 };
    this.#parts = [...this.#parts.filter(({ startMs }) => startMs > now - windowMs), part];
    return part;
  }

  #tried(isFailure: boolean): void {
    this.#isTrying = false;
    this.#parts = [];
    this.#trialAt = isFailure ? this.#now() + openMs : undefined;
  }
}
