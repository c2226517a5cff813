import { UserError } from '../../errors/user-error.ts';
import { rateLimited } from '../errors.ts';

interface Bucket {
  /** Calls that the account may still make; below zero where a large body was charged. */
  calls: number;
  atMs: number;
}

/** A body costs as many calls as it has pieces of this size, beside its own. */
const chargedBytes = 16_384;

/**
 * Limits the calls of each account: it may make a minute's worth at once, and gets them back evenly. It is kept by account,
 * so that more keys do not give more calls; in this process, so that several processes give several times as many.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #callsPerMs: number;
  /** One for each account that has called; accounts are made on the host only, and are few. */
  readonly #buckets = new Map<string, Bucket>();

  readonly #onRefused: () => void;
  readonly #readMs: () => number;

  constructor(callsPerMinute: number, onRefused: () => void, readMs: () => number = () => performance.now()) {
    this.#onRefused = onRefused;
    this.#readMs = readMs;
    this.#limit = callsPerMinute;
    this.#callsPerMs = callsPerMinute / 60_000;
  }

  /** Takes one call of the account's, or throws. Returns headers for the answer, by the names that clients know. */
  take(accountId: string): Readonly<Record<string, string>> {
    const bucket = this.#bucketOf(accountId);
    const isLeft = bucket.calls >= 1;
    if (isLeft) bucket.calls -= 1;
    // In lower case: the framework would convert them at each call.
    const headers = {
      'x-ratelimit-limit': String(this.#limit),
      'x-ratelimit-remaining': String(Math.max(0, Math.floor(bucket.calls))),
      'x-ratelimit-reset': String(this.#secondsUntil(bucket, this.#limit)),
    };
    if (isLeft) return headers;
    this.#onRefused();
    const seconds = this.#secondsUntil(bucket, 1);
    throw new UserError(
      rateLimited,
      { limit: this.#limit, seconds },
      { ...headers, 'Retry-After': String(Math.max(1, seconds)) },
    );
  }

  /** Charges a body that was received. It is never more than a minute's worth: no body keeps an account out for longer. */
  charge(accountId: string, bytes: number): void {
    if (bytes < chargedBytes) return;
    const bucket = this.#bucketOf(accountId);
    bucket.calls = Math.max(-this.#limit, bucket.calls - Math.floor(bytes / chargedBytes));
  }

  #secondsUntil({ calls }: Bucket, wanted: number): number {
    return Math.ceil((wanted - calls) / this.#callsPerMs / 1000);
  }

  #bucketOf(accountId: string): Bucket {
    const nowMs = this.#readMs();
    const bucket = this.#buckets.get(accountId);
    if (bucket === undefined) {
      const made = { calls: this.#limit, atMs: nowMs };
      this.#buckets.set(accountId, made);
      return made;
    }
    bucket.calls = Math.min(this.#limit, bucket.calls + (nowMs - bucket.atMs) * this.#callsPerMs);
    bucket.atMs = nowMs;
    return bucket;
  }
}
