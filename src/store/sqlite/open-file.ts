import { statSync } from 'node:fs';

import { StoreUnavailableError } from '../database.ts';

/**
 * The database file that this process has open. Its path may lead elsewhere by now: somebody has moved another file there,
 * or removed it. What is read and written then is in a file that nobody finds again.
 */
export class OpenFile {
  readonly #path: string;
  #identity: string | undefined;
  #fault: StoreUnavailableError | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** To be called when the file is there, and open. */
  opened(): void {
    this.#identity = identityOf(this.#path);
  }

  /** Looks where the path leads now. True if that is to another file, or to none. */
  look(): boolean {
    const identity = identityOf(this.#path);
    if (identity === this.#identity) this.#fault = undefined;
    else this.#fault ??= faultOf(this.#path, identity !== undefined);
    return this.#fault !== undefined;
  }

  /** Throws where the path led elsewhere at the last look. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Looks, and throws where the path leads elsewhere. */
  checkNow(): void {
    this.look();
    this.check();
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}

function faultOf(path: string, isReplaced: boolean): StoreUnavailableError {
  return new StoreUnavailableError(
    `the database ${path} was ${isReplaced ? 'replaced by another file' : 'moved or removed'} while this process had it open, ` +
      'so that nothing is read or written any more. Stop every process that has it open, make sure that the right file is ' +
      'there, and start them again; `gatehouse restore FILE` puts a backup in its place.',
  );
}
