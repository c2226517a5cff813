const mebibyte = 1024 * 1024;
/** Bytes of bodies that one process holds for modules that check them. */
const mostBytes = 128 * mebibyte;
/** Bodies of one account: whoever sends slowly to it must not shut out the others. */
const mostOfAccount = 32 * mebibyte;

/** Counts the bytes of request bodies that are held. */
export class HeldBodies {
  readonly #byAccount = new Map<string, number>();
  #bytes = 0;

  /** False: there is no room for so many more. */
  add(accountId: string, bytes: number): boolean {
    const ofAccount = (this.#byAccount.get(accountId) ?? 0) + bytes;
    if (this.#bytes + bytes > mostBytes || ofAccount > mostOfAccount) return false;
    this.#bytes += bytes;
    this.#byAccount.set(accountId, ofAccount);
    return true;
  }

  release(accountId: string, bytes: number): void {
    const left = (this.#byAccount.get(accountId) ?? 0) - bytes;
    this.#bytes -= bytes;
    if (left <= 0) this.#byAccount.delete(accountId);
    else this.#byAccount.set(accountId, left);
  }
}
