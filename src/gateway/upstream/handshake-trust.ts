import { BoundedCache } from '../../lib/bounded-cache.ts';

/** An owner one of whose handshakes has failed is not trusted for so long. */
const distrustMs = 3_600_000;
const knownOwners = 10_000;

/**
 * Knows whose upstreams may shake hands without a gate, which costs each request a little. A chain of certificates that leads
 * to a known authority is never costly to check, so those whose handshakes succeed are trusted.
 */
export class HandshakeTrust {
  /** Value of `performance.now()` from which on an owner is trusted. */
  readonly #trustedFrom = new BoundedCache<string, number>(knownOwners);

  isTrusted(owner: string): boolean {
    const from = this.#trustedFrom.get(owner);
    return from !== undefined && performance.now() >= from;
  }

  succeeded(owner: string): void {
    if (this.#trustedFrom.get(owner) === undefined) this.#set(owner, 0);
  }

  failed(owner: string): void {
    this.#set(owner, performance.now() + distrustMs);
  }

  #set(owner: string, from: number): void {
    this.#trustedFrom.fill(this.#trustedFrom.ticket(), owner, from);
  }
}
