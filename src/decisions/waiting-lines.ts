/**
 * Bytes of all accounts together that may wait, roughly; an account may have half of them, and less the more others wait. As
 * many again are for accounts that have few.
 */
const waitingBytes = 16 * 1024 * 1024;
/** Bytes that an account may have waiting when the others have all the rest. */
const leastBytes = 256 * 1024;
/** Lines are joined when there are so many bytes of them, so that no turn of the event loop joins more. */
const chunkBytes = 128 * 1024;

/** Decisions of one account, to be appended to its log. */
export interface Lines {
  readonly accountId: string;
  readonly rows: number;
  readonly firstNumber: number;
  readonly minAtMs: number;
  readonly maxAtMs: number;
  readonly bytes: Uint8Array;
}

/** Decisions that wait to be written, by account, in a bounded place. What does not fit is dropped and counted. */
export class WaitingLines {
  readonly #limit: number;
  readonly #byAccount = new Map<string, AccountLines>();
  readonly #dropped = new Map<string, number>();
  /** Of all lines of all accounts. */
  #length = 0;

  constructor(limit: number = waitingBytes) {
    this.#limit = limit;
  }

  /** Whether the account has room: asked before a line is made. A decision that has none is counted. */
  hasRoom(accountId: string): boolean {
    const waiting = this.#byAccount.get(accountId)?.length ?? 0;
    const hasShare = this.#length < this.#limit && waiting < this.#limit / (this.#byAccount.size + 1);
    if (hasShare || (waiting < leastBytes && this.#length < 2 * this.#limit)) return true;
    this.drop(accountId, 1);
    return false;
  }

  add(accountId: string, number: number, atMs: number, line: string): void {
    let lines = this.#byAccount.get(accountId);
    if (lines === undefined) this.#byAccount.set(accountId, (lines = new AccountLines(accountId)));
    lines.add(number, atMs, line);
    this.#length += line.length;
  }

  drop(accountId: string, rows: number): void {
    this.#dropped.set(accountId, this.dropped(accountId) + rows);
  }

  /** Decisions of the account that were dropped since this process began. */
  dropped(accountId: string): number {
    return this.#dropped.get(accountId) ?? 0;
  }

  /** Takes lines of one account; accounts take turns. */
  take(): Lines | undefined {
    const [lines] = this.#byAccount.values();
    if (lines === undefined) return undefined;
    this.#byAccount.delete(lines.accountId);
    const before = lines.length;
    const taken = lines.take();
    this.#length += lines.length - before;
    if (lines.length > 0) this.#byAccount.set(lines.accountId, lines);
    return taken;
  }
}

class AccountLines {
  readonly accountId: string;
  /** Of all lines, in UTF-16 units. */
  length = 0;
  #open: string[] = [];
  #openLength = 0;
  #firstNumber = 0;
  #minAtMs = 0;
  #maxAtMs = 0;
  readonly #closed: Lines[] = [];

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  add(number: number, atMs: number, line: string): void {
    if (this.#open.length === 0) [this.#firstNumber, this.#minAtMs, this.#maxAtMs] = [number, atMs, atMs];
    this.#open.push(line);
    this.#minAtMs = Math.min(this.#minAtMs, atMs);
    this.#maxAtMs = Math.max(this.#maxAtMs, atMs);
    this.length += line.length;
    this.#openLength += line.length;
    if (this.#openLength >= chunkBytes) this.#close();
  }

  take(): Lines | undefined {
    if (this.#closed.length === 0) this.#close();
    const taken = this.#closed.shift();
    this.length = this.#closed.reduce((sum, { bytes }) => sum + bytes.length, this.#openLength);
    return taken;
  }

  #close(): void {
    this.#closed.push({
      accountId: this.accountId,
      rows: this.#open.length,
      firstNumber: this.#firstNumber,
      minAtMs: this.#minAtMs,
      maxAtMs: this.#maxAtMs,
      bytes: Buffer.from(this.#open.join('')),
    });
    this.#open = [];
    this.#openLength = 0;
  }
}
