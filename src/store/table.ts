import { hasPrefix, newIdWithTime } from '../lib/ids.ts';
import { whenReady } from './database.ts';
import type { Awaitable, Queries, Row, Value } from './database.ts';
import type { Transaction } from './group-commit.ts';

/** Fields of every stored resource. A resource is one JSON document; other columns exist for constraints and look-ups. */
export interface Stored {
  readonly id: string;
  readonly account_id: string;
  readonly created_at: string;
}

interface TableDefinition<Document extends Stored> {
  /** The table's name in SQL. */
  readonly name: string;
  /** The name of the resource's kind in the change log. */
  readonly kind: string;
  readonly prefix: string;
  /** Columns for constraints and look-ups, with their value for a document. */
  readonly columns?: Readonly<Record<string, (document: Document) => Value>>;
  /** Columns whose values are no part of the document, so that no answer, cache or log ever holds them. */
  readonly secretColumns?: readonly string[];
}

export interface Page {
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** The queries that all resources share. Those for single resources are scoped by account here and nowhere else. */
export class Table<Document extends Stored> {
  readonly kind: string;
  readonly prefix: string;
  readonly #columns: readonly (readonly [string, (document: Document) => Value])[];
  readonly #secretColumns: readonly string[];
  readonly #insertInto: string;
  /** SQL texts by the number of rows. */
  readonly #insertMany = new Map<number, string>();
  readonly #sql: Readonly<
    Record<'find' | 'all' | 'firstPage' | 'page' | 'firstIds' | 'ids' | 'insert' | 'update' | 'delete', string>
  >;

  constructor({ name, kind, prefix, columns = {}, secretColumns = [] }: TableDefinition<Document>) {
    this.kind = kind;
    this.prefix = prefix;
    this.#columns = Object.entries(columns);
    this.#secretColumns = secretColumns;
    const kept = ['document', ...Object.keys(columns)];
    const all = ['id', 'account_id', ...kept, ...secretColumns];
    this.#insertInto = `INSERT INTO ${name} (${all.join(', ')})`;
    this.#sql = {
      find: `SELECT document FROM ${name} WHERE id = $1`,
      all: `SELECT document FROM ${name} ORDER BY id`,
      firstPage: `SELECT document FROM ${name} WHERE account_id = $1 ORDER BY id DESC LIMIT $2`,
      page: `SELECT document FROM ${name} WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT $2`,
      firstIds: `SELECT id FROM ${name} WHERE account_id = $1 ORDER BY id DESC LIMIT $2`,
      ids: `SELECT id FROM ${name} WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT $2`,
      insert: `${this.#insertInto} VALUES (${all.map((_, at) => `$${at + 1}`).join(', ')})`,
      update: `UPDATE ${name} SET ${kept.map((column, at) => `${column} = $${at + 2}`).join(', ')} WHERE id = $1`,
      delete: `DELETE FROM ${name} WHERE id = $1`,
    };
  }

  /** A new document's first fields. */
  newDocument(accountId: string): Stored {
    const { id, createdAt } = newIdWithTime(this.prefix);
    return { id, account_id: accountId, created_at: createdAt };
  }

  /** False for ids of other kinds. Callers send anything, also bytes that a database refuses as text. */
  mayHave(id: string): boolean {
    return hasPrefix(id, this.prefix);
  }

  /** The document, if it exists and belongs to the account. */
  async find(queries: Queries, accountId: string, id: string): Promise<Document | undefined> {
    const document = await this.load(queries, id);
    return document?.account_id === accountId ? document : undefined;
  }

  /** The document whatever its account; for caches and for the host's own commands. */
  load(queries: Queries, id: string): Awaitable<Document | undefined> {
    if (!this.mayHave(id)) return undefined;
    return whenReady(queries.all(this.#sql.find, [id]), ([row]) => row && this.parse(row));
  }

  /** The documents that exist among these ids, or all, whatever their account; for the snapshot and the host. */
  async loadMany(queries: Queries, ids: readonly string[] | undefined): Promise<readonly Document[]> {
    if (ids === undefined) return (await queries.all(this.#sql.all)).map((row) => this.parse(row));
    const documents: Document[] = [];
    for (const id of ids) {
      const document = await this.load(queries, id);
      if (document !== undefined) documents.push(document);
    }
    return documents;
  }

  /** Newest first. The index on (account_id, id) makes every page cost the same. */
  page(queries: Queries, accountId: string, { beforeId, limit }: Page): Awaitable<readonly Document[]> {
    const rows =
      beforeId === undefined
        ? queries.all(this.#sql.firstPage, [accountId, limit])
        : queries.all(this.#sql.page, [accountId, limit, beforeId]);
    return whenReady(rows, (all) => all.map((row) => this.parse(row)));
  }

  /** The ids of the same page, which the index alone answers. */
  pageIds(queries: Queries, accountId: string, { beforeId, limit }: Page): Awaitable<readonly string[]> {
    const rows =
      beforeId === undefined
        ? queries.all(this.#sql.firstIds, [accountId, limit])
        : queries.all(this.#sql.ids, [accountId, limit, beforeId]);
    return whenReady(rows, (all) => all.map((row) => String(row[0])));
  }

  async insert(transaction: Transaction, document: Document, secrets: readonly Value[] = []): Promise<Document> {
    if (secrets.length !== this.#secretColumns.length) throw new Error(`${this.kind}: secrets do not fit the table`);
    const { id, account_id } = document;
    const after = JSON.stringify(document);
    await transaction.run(this.#sql.insert, [id, account_id, after, ...this.#columnValues(document), ...secrets]);
    transaction.record({ accountId: account_id, kind: this.kind, id, before: null, after, cascades: false });
    return document;
  }

  /** Inserts many at once into a table without secrets. Records no change: the caller records one for all. */
  async insertMany(transaction: Transaction, documents: readonly Document[]): Promise<void> {
    const values: Value[] = [];
    for (const document of documents) {
      values.push(document.id, document.account_id, JSON.stringify(document));
      for (const [, value] of this.#columns) values.push(value(document));
    }
    await transaction.run(this.#insertManySql(documents.length), values);
  }

  /** Writes nothing, and records nothing, when both are equal. */
  async update(transaction: Transaction, previous: Document, document: Document): Promise<Document> {
    const { id, account_id } = document;
    const before = JSON.stringify(previous);
    const after = JSON.stringify(document);
    if (before === after) return previous;
    await transaction.run(this.#sql.update, [id, after, ...this.#columnValues(document)]);
    transaction.record({ accountId: account_id, kind: this.kind, id, before, after, cascades: false });
    return document;
  }

  /** Set `cascades` where the database deletes other rows along with it. */
  async delete(transaction: Transaction, document: Document, { cascades = false } = {}): Promise<void> {
    const { id, account_id } = document;
    await transaction.run(this.#sql.delete, [id]);
    const before = JSON.stringify(document);
    transaction.record({ accountId: account_id, kind: this.kind, id, before, after: null, cascades });
  }

  /** Reads a row that starts with the document column. */
  parse(row: Row): Document {
    // Only this class writes the column.
    return JSON.parse(String(row[0])) as Document;
  }

  /** The text is kept, because building one with thousands of places takes longer than running it. */
  #insertManySql(rows: number): string {
    let sql = this.#insertMany.get(rows);
    if (sql === undefined) {
      const width = 3 + this.#columns.length;
      const places = (row: number) => Array.from({ length: width }, (_, at) => `$${row * width + at + 1}`).join(', ');
      sql = `${this.#insertInto} VALUES ${Array.from({ length: rows }, (_, row) => `(${places(row)})`).join(', ')}`;
      this.#insertMany.set(rows, sql);
    }
    return sql;
  }

  #columnValues(document: Document): Value[] {
    return this.#columns.map(([, value]) => value(document));
  }
}

/** Statements that create a resource's table; `extra` holds further columns and constraints. */
export function tableSql(name: string, extra = ''): string {
  return `
    CREATE TABLE ${name} (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id),
      document TEXT NOT NULL${extra === '' ? '' : `,\n${extra}`}
    );
    CREATE INDEX ${name}_by_account ON ${name} (account_id, id);
  `;
}
