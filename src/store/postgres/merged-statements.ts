import { chunks } from '../../lib/chunks.ts';
import type { Connection, Row, Value } from '../database.ts';

interface Waiting {
  readonly parameters: readonly Value[];
  readonly resolve: (changed: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows of one statement. */
const rowsAtOnce = 64;
/** An insertion of one row, all of whose values are parameters. */
const oneRow = /^\s*(INSERT INTO \w+ \([\w, ]+\) VALUES) \((?:\$\d+(?:, )?)+\)\s*$/;
const heads = new Map<string, string | undefined>();

/**
 * Makes one statement of those that several items of a transaction give at about the same time: rows for one table, and the
 * same question. Where statements travel, each costs more than its work.
 */
export class MergedStatements {
  readonly #connection: Connection;
  readonly #waiting = new Map<string, Waiting[]>();
  /** Questions under way. */
  readonly #asked = new Map<string, Promise<readonly Row[]>>();
  #isOn = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Merges what `work` gives. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#isOn = true;
    try {
      return await work();
    } finally {
      this.#isOn = false;
    }
  }

  run(sql: string, parameters: readonly Value[] = []): Promise<number> {
    const head = this.#isOn ? headOf(sql) : undefined;
    if (head === undefined) return this.#connection.run(sql, parameters);
    return new Promise((resolve, reject) => {
      const same = this.#waiting.get(head);
      if (same !== undefined) {
        same.push({ parameters, resolve, reject });
        return;
      }
      this.#waiting.set(head, [{ parameters, resolve, reject }]);
      // Later in this turn of the event loop others come, whose last statements were answered by the same read.
      if (this.#waiting.size === 1) setImmediate(() => this.#send());
    });
  }

  all(sql: string, parameters: readonly Value[] = []): Promise<readonly Row[]> {
    if (!this.#isOn) return this.#connection.all(sql, parameters);
    const question = JSON.stringify([sql, parameters]);
    const asked = this.#asked.get(question);
    if (asked !== undefined) return asked;
    const answer = this.#ask(question, sql, parameters);
    this.#asked.set(question, answer);
    return answer;
  }

  async #ask(question: string, sql: string, parameters: readonly Value[]): Promise<readonly Row[]> {
    try {
      return await this.#connection.all(sql, parameters);
    } finally {
      this.#asked.delete(question);
    }
  }

  #send(): void {
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const [head, rows] of all) for (const some of chunks(rows, rowsAtOnce)) void this.#insert(head, some);
  }

  async #insert(head: string, rows: readonly Waiting[]): Promise<void> {
    let at = 0;
    const places = rows.map(({ parameters }) => `(${parameters.map(() => `$${(at += 1)}`).join(', ')})`);
    try {
      const values = rows.flatMap(({ parameters }) => parameters);
      await this.#connection.run(`${head} ${places.join(', ')}`, values);
      for (const { resolve } of rows) resolve(1);
    } catch (error) {
      for (const { reject } of rows) reject(error);
    }
  }
}

function headOf(sql: string): string | undefined {
  if (!heads.has(sql)) heads.set(sql, oneRow.exec(sql)?.[1]);
  return heads.get(sql);
}
