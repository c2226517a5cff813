import { hasPrefix, newIdWithTime, timeOfId, toTimestamp } from '../lib/ids.ts';
import { chunks } from '../lib/chunks.ts';
import { Pace } from '../lib/pace.ts';
import { boundedSql, readBounded } from './bounded-rows.ts';
import type { Queries, Row, Value } from './database.ts';
import type { JsonSql } from './search/condition.ts';
import { filteredPage } from './search/filtered-page.ts';
import type { Filtered, FilteredPage } from './search/filtered-page.ts';
import type { Change } from './write/change-log.ts';
import type { Transaction } from './write/transaction.ts';
import { rowsOf } from './rows-of.ts';
import { pageOfShown } from './search/shown-rows.ts';
import type { ShownRows } from './search/shown-rows.ts';

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
  /** Columns whose values are no part of the document, such as secrets, so that no answer, cache or log ever holds them. */
  readonly otherColumns?: readonly string[];
  /** Fills in what documents of older releases do not have. */
  readonly complete?: (document: Document) => Document;
  /** Documents may have hundreds of kilobytes, as those with traffic policies. */
  readonly mayBeLong?: boolean;
  /** Given where `name` is a view of the rows of a table that are shown. */
  readonly rows?: ShownRows;
}

/** Documents of one statement, where all are read. */
const documentsAtOnce = 512;
/** Ids of one statement that reads documents which may be long. */
const longAtOnce = 64;
/** Characters of a document from which on it is long. */
const longLength = 16_384;

export interface Page {
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** The queries that all resources share. Those for single resources are scoped by account here and nowhere else. */
export class Table<Document extends Stored> {
  readonly kind: string;
  readonly prefix: string;
  readonly mayBeLong: boolean;
  readonly #long = new WeakSet<Document>();
  readonly #columns: readonly (readonly [string, (document: Document) => Value])[];
  readonly #otherColumns: readonly string[];
  /** The table, or the view of its rows that are shown. */
  readonly #name: string;
  readonly #table: string;
  readonly #rows: ShownRows | undefined;
  readonly #complete: ((document: Document) => Document) | undefined;
  readonly #insertColumns: readonly string[];
  /** SQL texts by the number of rows. */
  readonly #insertMany = new Map<number, string>();
  readonly #sql: Readonly<Record<'find' | 'following' | 'insert' | 'update' | 'delete', string>>;
  readonly #pageSql: Readonly<Record<'document' | 'id', { readonly first: string; readonly next: string }>>;

  constructor(definition: TableDefinition<Document>) {
    const { name, kind, prefix, columns = {}, otherColumns = [], complete, rows, mayBeLong = false } = definition;
    this.kind = kind;
    this.prefix = prefix;
    this.mayBeLong = mayBeLong;
    this.#columns = Object.entries(columns);
    this.#otherColumns = otherColumns;
    const kept = ['document', ...Object.keys(columns)];
    const all = ['id', 'account_id', ...kept, ...otherColumns];
    const table = rows?.table ?? name;
    const shown = rows === undefined ? '' : ` AND ${rows.isShown}`;
    this.#name = name;
    this.#table = table;
    this.#rows = rows;
    this.#complete = complete;
    this.#insertColumns = all;
    this.#sql = {
      find: `SELECT document FROM ${name} WHERE id = $1`,
      following: `SELECT document FROM ${name} WHERE id > $1 ORDER BY id LIMIT ${documentsAtOnce}`,
      insert: `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map((_, at) => `$${at + 1}`).join(', ')})`,
      update: `UPDATE ${table} SET ${kept.map((column, at) => `${column} = $${at + 2}`).join(', ')} WHERE id = $1${shown}`,
      delete: `DELETE FROM ${table} WHERE id = $1`,
    };
    const pageSql = (column: string) => ({
      first: `SELECT ${column} FROM ${name} WHERE account_id = $1 ORDER BY id DESC LIMIT $2`,
      next: `SELECT ${column} FROM ${name} WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT $2`,
    });
    this.#pageSql = { document: pageSql('document'), id: pageSql('id') };
  }

  /** A new document's first fields. An id that is given must be free, and one of this table. */
  newDocument(accountId: string, chosenId?: string): Stored {
    if (chosenId !== undefined) {
      const time = timeOfId(chosenId);
      return { id: chosenId, account_id: accountId, created_at: toTimestamp(time ?? Date.now()) };
    }
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
  async load(queries: Queries, id: string): Promise<Document | undefined> {
    if (!this.mayHave(id)) return undefined;
    const [row] = await queries.all(this.#sql.find, [id]);
    return row && this.parse(row);
  }

  /** The documents that exist among these ids, or all, whatever their account; for the snapshot and the host. */
  async loadMany(queries: Queries, ids: readonly string[] | undefined): Promise<readonly Document[]> {
    if (ids === undefined) return this.#loadAll(queries);
    const own = ids.filter((id) => this.mayHave(id));
    if (this.mayBeLong && own.length > 1) return this.#loadLong(queries, own);
    const rows = await rowsOf(queries, own, (places) => `SELECT document FROM ${this.#name} WHERE id IN (${places})`);
    return rows.map((row) => this.parse(row));
  }

  async #loadLong(queries: Queries, ids: readonly string[]): Promise<readonly Document[]> {
    const documents: Document[] = [];
    for (const some of chunks(ids, longAtOnce)) {
      const places = some.map((_, at) => `$${at + 2}`).join(', ');
      const sql = this.#longSql('ASC', `id > $1 AND id IN (${places})`, some.length);
      await readBounded(
        queries,
        { atOnce: some.length, statement: (last) => [sql, [last?.[1] ?? '', ...some]] },
        (row) => documents.push(this.parse(row)),
      );
    }
    return documents;
  }

  async #loadAll(queries: Queries): Promise<readonly Document[]> {
    const documents: Document[] = [];
    if (this.mayBeLong) {
      const sql = this.#longSql('ASC', 'id > $1', documentsAtOnce);
      await readBounded(queries, { atOnce: documentsAtOnce, statement: (last) => [sql, [last?.[1] ?? '']] }, (row) =>
        documents.push(this.parse(row)),
      );
      return documents;
    }
    const pace = new Pace();
    for (;;) {
      const rows = await queries.all(this.#sql.following, [documents.at(-1)?.id ?? '']);
      for (const row of rows) documents.push(this.parse(row));
      if (rows.length < documentsAtOnce) return documents;
      if (pace.isDue) await pace.giveWay();
    }
  }

  /** Newest first. The index on (account_id, id) makes every page cost the same. */
  async page(queries: Queries, accountId: string, page: Page): Promise<readonly Document[]> {
    if (this.mayBeLong) return this.#pageOfLong(queries, accountId, page);
    return (await this.#pageRows(queries, 'document', accountId, page)).map((row) => this.parse(row));
  }

  async #pageOfLong(queries: Queries, accountId: string, { beforeId, limit }: Page): Promise<readonly Document[]> {
    const documents: Document[] = [];
    const first = this.#longSql('DESC', 'account_id = $1', '$2');
    const next = this.#longSql('DESC', 'account_id = $1 AND id < $3', '$2');
    const statement = (last: Row | undefined, most: number) => {
      const before = last?.[1] ?? beforeId;
      return before === undefined
        ? ([first, [accountId, most]] as const)
        : ([next, [accountId, most, before]] as const);
    };
    await readBounded(queries, { atOnce: limit, wanted: limit, statement }, (row) => documents.push(this.parse(row)));
    return documents;
  }

  #longSql(order: 'ASC' | 'DESC', where: string, limit: string | number): string {
    const columns = ['document', 'id'];
    return boundedSql({ table: this.#name, columns, long: ['document'], key: ['id'], order, where, limit });
  }

  /** The ids of the same page, which the index alone answers. */
  async pageIds(queries: Queries, accountId: string, page: Page): Promise<readonly string[]> {
    return (await this.#pageRows(queries, 'id', accountId, page)).map((row) => String(row[0]));
  }

  /** A page of the documents that pass a condition, newest first. `scope` narrows them by further columns. */
  async filteredPage(
    queries: Queries,
    json: JsonSql,
    accountId: string,
    { scope = {}, ...page }: FilteredPage,
  ): Promise<Filtered<Document>> {
    const rows = {
      searcher: accountId,
      table: this.#table,
      prefix: this.prefix,
      scope: { account_id: accountId, ...scope },
      ...(this.#rows && { isShown: this.#rows.isShown }),
    };
    const { found, ...rest } = await filteredPage(queries, json, rows, page);
    return { found: found.map((row) => this.parse(row)), ...rest };
  }

  async insert(transaction: Transaction, document: Document, others: readonly Value[] = []): Promise<Document> {
    if (others.length !== this.#otherColumns.length) throw new Error(`${this.kind}: values do not fit the table`);
    const { id, account_id } = document;
    const after = JSON.stringify(document);
    await transaction.run(this.#sql.insert, [id, account_id, after, ...this.#columnValues(document), ...others]);
    transaction.record({ accountId: account_id, kind: this.kind, id, before: null, after, cascades: false });
    return document;
  }

  /** Inserts many at once, with the same values in other columns. Records no change: the caller records one for all. */
  async insertMany(
    transaction: Pick<Transaction, 'run'>,
    documents: readonly Document[],
    others: readonly Value[] = [],
  ): Promise<void> {
    const values: Value[] = [];
    for (const document of documents) {
      values.push(document.id, document.account_id, JSON.stringify(document));
      for (const [, value] of this.#columns) values.push(value(document));
      for (const value of others) values.push(value);
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

  /**
   * Set `cascades` where the database deletes other rows along with it, with these rows as `parts` of the change. Returns the
   * number of rows of this table.
   */
  async delete(
    transaction: Transaction,
    document: Document,
    { cascades = false, parts }: Partial<Pick<Change, 'cascades' | 'parts'>> = {},
  ): Promise<number> {
    const { id, account_id } = document;
    const deleted = await transaction.run(this.#sql.delete, [id]);
    const before = JSON.stringify(document);
    transaction.record({ accountId: account_id, kind: this.kind, id, before, after: null, cascades, parts });
    return deleted;
  }

  /** Reads a row that starts with the document column. */
  parse(row: Row): Document {
    // Only this class writes the column.
    const text = String(row[0]);
    const document = this.complete(JSON.parse(text) as Document);
    if (text.length > longLength) this.#long.add(document);
    return document;
  }

  /** Was read as a long text: thousands of such documents are too many to keep. */
  isLong(document: Document): boolean {
    return this.#long.has(document);
  }

  /** The document with what those of older releases do not have. */
  complete(document: Document): Document {
    return this.#complete?.(document) ?? document;
  }

  #pageRows(queries: Queries, column: 'document' | 'id', accountId: string, page: Page): Promise<readonly Row[]> {
    if (this.#rows !== undefined) return pageOfShown(queries, this.#rows, column, accountId, page);
    const { first, next } = this.#pageSql[column];
    const { beforeId, limit } = page;
    return beforeId === undefined
      ? queries.all(first, [accountId, limit])
      : queries.all(next, [accountId, limit, beforeId]);
  }

  /** The text is kept, because building one with thousands of places takes longer than running it. */
  #insertManySql(rows: number): string {
    let sql = this.#insertMany.get(rows);
    if (sql === undefined) {
      const width = this.#insertColumns.length;
      const places = (row: number) => this.#insertColumns.map((_, at) => `$${row * width + at + 1}`).join(', ');
      const all = Array.from({ length: rows }, (_, row) => `(${places(row)})`).join(', ');
      sql = `INSERT INTO ${this.#table} (${this.#insertColumns.join(', ')}) VALUES ${all}`;
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
