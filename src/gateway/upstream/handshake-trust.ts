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

  /** Owners who have a handshake without a gate under way. */
  readonly #ungated = new Set<string>();

  /**
   * True: this handshake goes without a gate, until `end` is called. An owner has one such at a time: what a chain costs has been
   * paid when it turns out to be a bad one.
   */
  begin(owner: string): boolean {
    const from = this.#trustedFrom.get(owner);
    if (from === undefined || performance.now() < from || this.#ungated.has(owner)) return false;
    this.#ungated.add(owner);
    return true;
  }

  end(owner: string): void {
    this.#ungated.delete(owner);
  }

  succeeded(owner: string): void {
    if (this.#trustedFrom.get(owner) === undefined) this.#set(owner, 0);
  }

  failed(owner: string): void {
    this.#set(owner, performance.now() + distrustMs);
  }

  #set(owner: string, from: number): void {
    this.#trustedFrom.set(owner, from);
  }
}
