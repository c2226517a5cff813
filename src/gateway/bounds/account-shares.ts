import { KeyCounts } from '../../lib/key-counts.ts';

/**
 * Counts what all accounts have of something. None has more than a quarter of it, nor more than it leaves: the more accounts take all
 * that they can, the less each has, and there is always some for one that has nothing.
 */
export class AccountShares {
  readonly #total: () => number;
  readonly #byAccount = new KeyCounts<string>();
  #used = 0;

  constructor(total: () => number) {
    this.#total = total;
  }

  get used(): number {
    return this.#used;
  }

  mayTake(accountId: string, amount: number): boolean {
    const total = this.#total();
    const left = total - this.#used - amount;
    const own = this.#byAccount.of(accountId);
    if (own === 0 && amount <= 1) return left >= 0;
    return own + amount <= Math.min(Math.ceil(total / 4), left);
  }

  /** Takes it, or with a negative amount gives it back. */
  take(accountId: string, amount: number): void {
    this.#used += amount;
    this.#byAccount.add(accountId, amount);
  }
}
