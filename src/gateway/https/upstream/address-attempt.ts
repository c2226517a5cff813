import type { BackendAddresses, ChoiceFacts } from '../../health/backend-addresses.ts';
import type { HealthTable } from '../../health/health-table.ts';
import type { Target } from '../../health/target.ts';
import type { UpstreamPool } from './pool.ts';

interface AttemptParts {
  readonly addresses: BackendAddresses;
  readonly facts: ChoiceFacts;
  readonly health: HealthTable;
  readonly poolOf: (target: Target) => UpstreamPool;
}

/** The way of one request to a backend with several addresses. */
export class AddressAttempt {
  readonly #parts: AttemptParts;
  readonly #tried: Target[] = [];
  #target: Target | undefined;
  /** The address had failed before. */
  #isTrial = false;
  #retries: number;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#retries = parts.addresses.balance.retries;
  }

  /** The pool of the next address; undefined if none is left. */
  next(isUp = false): UpstreamPool | undefined {
    const { addresses, facts, poolOf } = this.#parts;
    const target = addresses.choose(facts, this.#tried, isUp);
    if (target === undefined) return undefined;
    this.end();
    this.#target = target;
    this.#isTrial = target.isFailing;
    this.#tried.push(target);
    target.inUse++;
    return poolOf(target);
  }

  /** The address could not be reached, and nothing was sent. */
  unreachable(cause: string): UpstreamPool | undefined {
    this.failed(cause);
    return this.next();
  }

  /** The request was sent and not answered. Returns the pool of another address, if it may be sent there. */
  broken(cause: string, mayRepeat: boolean): UpstreamPool | undefined {
    this.failed(cause);
    return mayRepeat ? this.#retry() : undefined;
  }

  /** An answer begins. Returns the pool of another address, if this one fails and the request may be sent there instead. */
  answered(status: number, mayRepeat: boolean): UpstreamPool | undefined {
    const { addresses, health } = this.#parts;
    if (this.#target === undefined) return undefined;
    if (!addresses.isFailure(status)) {
      // An answer to a request from before the failure says nothing about the address as it is now.
      if (this.#isTrial) health.answered(this.#target);
      return undefined;
    }
    this.failed(`it answered ${status}`);
    // An answer is worth more than one that is known not to answer.
    return mayRepeat ? this.#retry(true) : undefined;
  }

  failed(cause: string): void {
    if (this.#target !== undefined) this.#parts.health.failed(this.#target, cause);
  }

  /** The request is over. May be called more than once. */
  end(): void {
    if (this.#target !== undefined) this.#target.inUse--;
    this.#target = undefined;
  }

  #retry(isUp = false): UpstreamPool | undefined {
    if (this.#retries === 0) return undefined;
    this.#retries--;
    return this.next(isUp);
  }
}
