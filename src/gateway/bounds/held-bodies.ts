import { AccountShares } from './account-shares.ts';

/** Bytes of bodies that one process holds, for steps that check or change them. */
const mostBytes = 128 * 1024 * 1024;

/** Counts the bytes of bodies that are held. Whoever sends or reads slowly must not shut out other accounts. */
export class HeldBodies {
  readonly #shares = new AccountShares(() => mostBytes);

  /** False: there is no room for so many more. */
  add(accountId: string, bytes: number): boolean {
    if (!this.#shares.mayTake(accountId, bytes)) return false;
    this.#shares.take(accountId, bytes);
    return true;
  }

  release(accountId: string, bytes: number): void {
    this.#shares.take(accountId, -bytes);
  }
}
