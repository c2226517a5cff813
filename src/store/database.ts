import type { JsonSql } from './search/condition.ts';
import type { Head, Point } from './write/history.ts';
import type { CountedTable } from './usage.ts';

/** A value of a column or of a `$n` parameter. Booleans are 0 and 1, times and JSON are text. */
export type Value = string | number | null;
/** Columns in the order of the query. */
export type Row = readonly Value[];

/**
 * SQL text in the portable subset: `$1` parameters, `RETURNING`, `ON CONFLICT`. Each text is prepared once and kept, unless
 * a `searcher` is given, the account that searches: texts whose form callers choose are without end, and accounts take turns.
 */
export interface Queries {
  all(sql: string, parameters?: readonly Value[], searcher?: string): Promise<readonly Row[]>;
}

export interface Connection extends Queries {
  /** The connection is lost, possibly while it was idle. */
  readonly isBroken: boolean;
  /** Time for which the database has said nothing while a statement is under way; only where statements travel. */
  readonly silentMs?: number;
  /** Statements travel: those that are given together are sent before the first is answered. */
  readonly isRemote: boolean;
  /** Returns the number of rows that changed. */
  run(sql: string, parameters?: readonly Value[]): Promise<number>;
  /** One or more statements without parameters, not prepared. */
  script(sql: string): Promise<void>;
  /** Throws unless the server at its other end is still the database; only where another one can become it. */
  readonly confirm?: () => Promise<void>;
  close(): Promise<void>;
}

/** Data that goes with a commit. */
export interface Ending {
  /** The new point of the store's history; undefined keeps the one it has. */
  readonly point: Point | undefined;
  /** Other processes are told of the write when, and only if, it is committed. */
  readonly isSignalled: boolean;
}

/** One of the two databases. SQL that only one of them knows stands in its own file. */
export interface Database {
  /** Single statements outside any transaction; sees what is committed. */
  readonly reader: Queries;
  /** Reads how far its history goes, as the last commit of any process left it. */
  readHead(): Promise<Head>;
  /** Another number after every commit of any process; only where asking for it costs next to nothing. */
  readonly commitCounter?: () => number;
  /**
   * A connection of its own for a transaction. A database that takes longer than `statementTimeoutMs` for a statement
   * counts as gone; without a limit, statements may take any time.
   */
  connect(statementTimeoutMs?: number): Promise<Connection>;
  /** Begins a transaction that holds the only right to write, across processes, until it ends. Returns the newest point. */
  beginExclusive(connection: Connection): Promise<Point>;
  /** Ends an exclusive transaction. */
  commit(connection: Connection, ending: Ending): Promise<void>;
  /** Begins a transaction that sees one state of the database throughout. */
  beginSnapshot(connection: Connection): Promise<void>;
  /** Holds the right to migrate, across processes, until the transaction ends. */
  beginMigration(connection: Connection): Promise<void>;
  readonly json: JsonSql;
  /** An expression for milliseconds since 1970, by the one clock that all processes share. */
  readonly clockSql: string;
  /** Replaces the portable column types by those of this database. */
  translateSchema(sql: string): string;
  readonly counting: CountingSql;
  /** Tells why no server is the database, or undefined; only where that can be in doubt. */
  readonly fault?: () => string | undefined;
  /** Watches for writes of other processes. Returns a function that stops it. */
  watch(watcher: Watcher): Promise<() => void>;
  close(): Promise<void>;
}

export interface Watcher {
  /** Another process may have written. */
  readonly poll: () => void;
  /** The database was asked, and nobody has written since the last time. */
  readonly noChange: () => void;
  /** The database may be another one by now, or have been put back. */
  readonly doubt: () => void;
}

/** A unique or foreign-key constraint was violated. Resources check first and say more; this is the last guard. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';
}

/** The database cannot be reached at the moment. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** The disk of the database is full: nothing can be written, reading goes on. */
export class StoreFullError extends StoreUnavailableError {}

/** A write under way has not been answered for a while: further ones would only wait behind it. Reading goes on. */
export class WritesStalledError extends StoreUnavailableError {}

/** Statements that make the database itself count the rows of each account (`usage.ts`). */
export interface CountingSql {
  /** Gives every new account its quotas, and refuses a count beyond one. */
  readonly guardSql: string;
  readonly triggersSql: (table: CountedTable) => string;
}
