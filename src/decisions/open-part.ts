import { closeSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';

/** Decisions of one account, to be appended to its log. */
export interface Lines {
  readonly accountId: string;
  readonly rows: number;
  readonly firstNumber: number;
  readonly minAtMs: number;
  readonly maxAtMs: number;
  readonly bytes: Uint8Array;
}

/** A line that begins at this byte has this number. */
interface Mark {
  readonly number: number;
  readonly offset: number;
}

/** The log that decisions of one account are appended to. Lines are there as a whole, or not at all. */
export class OpenPart {
  readonly path: string;
  readonly accountId: string;
  readonly firstNumber: number;
  readonly openedMs: number;
  rows = 0;
  /** Time, as `performance.now()` tells it, before which it is not tried again to close it. */
  retryAtMs = 0;
  minAtMs = Infinity;
  maxAtMs = -Infinity;
  #bytes: number;
  /** Where lines begin in the file, and the number of the first of them; in order. */
  readonly #marks: Mark[] = [];

  constructor(path: string, accountId: string, firstNumber: number, openedMs: number) {
    this.path = path;
    this.accountId = accountId;
    this.firstNumber = firstNumber;
    this.openedMs = openedMs;
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (this.#bytes > 0) this.mark({ number: firstNumber, offset: 0 });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The last mark before what comes behind a number. */
  markBefore(number: number): Mark {
    return this.#marks.findLast((mark) => mark.number <= number) ?? { number: this.firstNumber, offset: 0 };
  }

  mark(mark: Mark): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && mark.offset <= last.offset && this.#marks.some(({ offset }) => offset === mark.offset))
      return;
    this.#marks.push(mark);
    if (last !== undefined && mark.offset < last.offset) this.#marks.sort((a, b) => a.offset - b.offset);
  }

  append({ rows, bytes, minAtMs, maxAtMs, firstNumber }: Lines): void {
    // Not kept open: there may be more accounts than descriptors.
    const file = openSync(this.path, 'a', 0o600);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } catch (error) {
      ftruncateSync(file, this.#bytes);
      throw error;
    } finally {
      closeSync(file);
    }
    this.mark({ number: firstNumber, offset: this.#bytes });
    this.#bytes += bytes.length;
    this.rows += rows;
    this.minAtMs = Math.min(this.minAtMs, minAtMs);
    this.maxAtMs = Math.max(this.maxAtMs, maxAtMs);
  }
}
