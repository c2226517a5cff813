/**
 * Statements that are on their way at once. Each has its time limit from when it is sent, so that one behind thousands of
 * others, such as the commit, would be taken for lost.
 */
const mostOnTheirWay = 32;

/**
 * Statements of a transaction whose answers nobody needs at once. Where statements travel, what follows is sent behind
 * them without waiting, and is carried out in that order; where they run in this thread, each is done when it is sent.
 */
export class SentStatements {
  readonly #isRemote: boolean;
  #ends: Promise<unknown>[] = [];

  constructor(isRemote: boolean) {
    this.#isRemote = isRemote;
  }

  /** Throws the fault of a statement that runs here; that of one that travels ends the transaction, by `arrived`. */
  send(statement: Promise<unknown>): Promise<unknown> {
    return this.#isRemote ? this.#sendBehind(statement) : statement;
  }

  /** Resolves when all of them are carried out; throws the fault of the first that was not. */
  async arrived(): Promise<void> {
    const ends = this.#ends;
    this.#ends = [];
    await Promise.all(ends);
  }

  async #sendBehind(statement: Promise<unknown>): Promise<void> {
    // A rejection is looked at by `arrived`, and must not end the process before.
    statement.catch(() => {});
    this.#ends.push(statement);
    // Statements are carried out in order: when this one is, so are all before it.
    if (this.#ends.length % mostOnTheirWay === 0) await statement.catch(() => {});
  }
}
