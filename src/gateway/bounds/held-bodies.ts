import { KeyCounts } from '../../lib/key-counts.ts';

const mebibyte = 1024 * 1024;
/** Bytes of bodies that one process holds for modules that check them. */
const mostBytes = 128 * mebibyte;
/** Bodies of one account: whoever sends slowly to it must not shut out the others. */
const mostOfAccount = 32 * mebibyte;

/** Counts the bytes of request bodies that are held. */
export class HeldBodies {
  readonly #byAccount = new KeyCounts<string>();
  #bytes = 0;

  /** False: there is no room for so many more. */
  add(accountId: string, bytes: number): boolean {
    if (this.#bytes + bytes > mostBytes || this.#byAccount.of(accountId) + bytes > mostOfAccount) return false;
    this.#bytes += bytes;
    this.#byAccount.add(accountId, bytes);
    return true;
  }

  release(accountId: string, bytes: number): void {
    this.#bytes -= bytes;
    this.#byAccount.add(accountId, -bytes);
  }
}
