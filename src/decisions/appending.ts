import { decisionLine } from './decision-line.ts';
import type { Appended } from './messages.ts';
import type { Lines } from './open-part.ts';
import { unpackDecisions } from './packed-decisions.ts';
import type { PackedDecisions } from './packed-decisions.ts';

interface Store {
  readonly lastNumber: number;
  append(lines: Lines, nowMs: number): Promise<void>;
}

interface AccountLines {
  readonly texts: string[];
  readonly firstNumber: number;
  minAtMs: number;
  maxAtMs: number;
}

/** Numbers decisions in the order in which they come, and appends them to the logs of their accounts. */
export class Appending {
  readonly #store: Store;
  #number: number;

  constructor(store: Store) {
    this.#store = store;
    this.#number = store.lastNumber;
  }

  async append(packed: PackedDecisions, nowMs: number): Promise<Appended> {
    let [rows, fault]: [number, string | undefined] = [0, undefined];
    const dropped: [string, number][] = [];
    for (const [accountId, { texts, ...range }] of this.#linesOf(packed)) {
      try {
        const bytes = Buffer.from(texts.join(''));
        await this.#store.append({ accountId, rows: texts.length, ...range, bytes }, nowMs);
        rows += texts.length;
      } catch (error) {
        dropped.push([accountId, texts.length]);
        fault = error instanceof Error ? error.message : String(error);
      }
    }
    return { rows, dropped, fault };
  }

  #linesOf(packed: PackedDecisions): ReadonlyMap<string, AccountLines> {
    const byAccount = new Map<string, AccountLines>();
    for (const [accountId, decision] of unpackDecisions(packed)) {
      const { at_ms: atMs } = decision;
      const number = (this.#number = Math.max(this.#number + 1, atMs * 1000));
      let lines = byAccount.get(accountId);
      if (lines === undefined) {
        lines = { texts: [], firstNumber: number, minAtMs: atMs, maxAtMs: atMs };
        byAccount.set(accountId, lines);
      }
      lines.texts.push(decisionLine(number, decision));
      lines.minAtMs = Math.min(lines.minAtMs, atMs);
      lines.maxAtMs = Math.max(lines.maxAtMs, atMs);
    }
    return byAccount;
  }
}
