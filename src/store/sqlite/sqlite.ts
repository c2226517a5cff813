import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { autocheckpointPages, Checkpoints } from './checkpoints.ts';
import { ConstraintError, StoreFullError, StoreUnavailableError } from '../database.ts';
import type { Connection, Database, Row, Value, Watcher } from '../database.ts';
import { headSql, toHead } from '../write/history.ts';
import { OpenFile } from './open-file.ts';
import { OverQuota } from '../usage.ts';
import { counting } from './count-rows.ts';
import { sqliteJson } from './sqlite-json.ts';

const busyTimeoutMs = 10_000;
/** Interval of looking for writes of other processes; `PRAGMA data_version` costs a few microseconds. */
const pollEveryMs = 50;
const busyRetryMs = 2;
/** Connections that wait for the next snapshot to be read. */
const mostIdle = 2;
export const busyCode = 5;
const constraintCode = 19;
/** Extended result code of a refusal by a trigger. */
const triggerCode = 1811;
const fullCode = 13;
/** Result codes for read-only and I/O error: the request is right, and may succeed later. */
const storageCodes: ReadonlySet<number | undefined> = new Set([8, 10]);

/** Scripts of every write, with their statements, which are prepared once. */
const transactionSteps: ReadonlyMap<string, readonly string[]> = new Map(
  ['BEGIN IMMEDIATE', 'COMMIT', 'SAVEPOINT job', 'RELEASE job; SAVEPOINT job'].map((sql) => [sql, sql.split('; ')]),
);

const beginSnapshot = 'BEGIN';

/** SQLite in a file, through Node's own binding. Several processes of one machine may share the file. */
export function openSqlite(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  const file = new OpenFile(path);
  const reader = new SqliteConnection(path, file);
  file.opened();
  const checkpoints = new Checkpoints(path, file);
  // The file holds hashes of tokens and private keys.
  if (isNew) chmodSync(path, 0o600);
  const commitCounter = () => reader.dataVersion();
  /** A new one reads the schema and prepares every statement, which takes far longer than a small snapshot. */
  const idle = new Set<SqliteConnection>();
  let isClosed = false;
  const keep = (connection: SqliteConnection): boolean => {
    if (isClosed || idle.size >= mostIdle) return false;
    idle.add(connection);
    return true;
  };
  let isEmptied = false;
  const lookAtFile = () => {
    const isElsewhere = file.look();
    // Once only: by now, the log may be that of whoever has opened the other file.
    isEmptied = isElsewhere && (isEmptied || reader.emptyLog());
    return isElsewhere;
  };
  return {
    reader,
    readHead: async () => toHead(await reader.all(headSql)),
    commitCounter,
    async connect() {
      // Another file would be opened with the log of the one that was there before.
      file.checkNow();
      const [known] = idle;
      if (known === undefined) return new SqliteConnection(path, file, keep);
      idle.delete(known);
      return known;
    },
    async beginExclusive(connection) {
      file.checkNow();
      await beginImmediate(connection);
      return toHead(await connection.all(headSql)).logged;
    },
    // Nobody is told: other processes read the file's own counter.
    async commit(connection, { point }) {
      if (point !== undefined) {
        await connection.run('UPDATE store_version SET version = $1, mark = $2', [point.version, point.mark]);
      }
      file.checkNow();
      await connection.script('COMMIT');
      checkpoints.committed();
    },
    beginSnapshot: (connection) => connection.script(beginSnapshot),
    beginMigration: beginImmediate,
    json: sqliteJson,
    clockSql: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    translateSchema: (sql) => sql,
    counting,
    async watch(watcher) {
      return watchCommits(commitCounter, watcher, lookAtFile);
    },
    async close() {
      lookAtFile();
      isClosed = true;
      await checkpoints.close();
      for (const each of idle) await each.close();
      await reader.close();
    },
  };
}

class SqliteConnection implements Connection {
  readonly isBroken = false;
  readonly isRemote = false;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #file: OpenFile;
  readonly #keep: (connection: SqliteConnection) => boolean;
  #readsSnapshot = false;

  /** Where a snapshot has been read, `keep` may take the connection instead of an end. */
  constructor(path: string, file: OpenFile, keep: (connection: SqliteConnection) => boolean = () => false) {
    this.#file = file;
    this.#keep = keep;
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    guard(() => {
      enterWal(this.#database);
      this.#database.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${autocheckpointPages}`);
    });
  }

  /** Another number after every commit of another connection. */
  dataVersion(): number {
    return Number(this.#all('PRAGMA data_version')[0]?.[0]);
  }

  /**
   * Copies the log into the file that it belongs to, and empties it: SQLite would replay it into another file that has been
   * put in the place of that one. Returns false while others read or write.
   */
  emptyLog(): boolean {
    try {
      this.#database.exec('PRAGMA busy_timeout = 0');
      const [result] = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
      return result?.['busy'] === 0;
    } catch {
      return false;
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  async all(sql: string, parameters?: readonly Value[], searcher?: string): Promise<readonly Row[]> {
    return this.#all(sql, parameters, searcher);
  }

  async run(sql: string, parameters: readonly Value[] = []): Promise<number> {
    this.#file.check();
    return Number(guard(() => this.#prepare(sql).run(...parameters)).changes);
  }

  async script(sql: string): Promise<void> {
    this.#file.check();
    this.#readsSnapshot = sql === beginSnapshot;
    guard(() => {
      const steps = transactionSteps.get(sql);
      if (steps === undefined) this.#database.exec(sql);
      else for (const step of steps) this.#prepare(step).run();
    });
  }

  async close(): Promise<void> {
    if (this.#readsSnapshot && this.#endSnapshot() && this.#keep(this)) return;
    this.#database.close();
  }

  /** False after a fault that has ended the transaction. */
  #endSnapshot(): boolean {
    this.#readsSnapshot = false;
    try {
      this.#database.exec('ROLLBACK');
      return true;
    } catch {
      return false;
    }
  }

  #all(sql: string, parameters: readonly Value[] = [], searcher?: string): readonly Row[] {
    this.#file.check();
    const statement = () => (searcher === undefined ? this.#prepare(sql) : this.#prepareOnce(sql));
    // `setReturnArrays` makes every row an array, which the binding's types do not know.
    return guard(() => statement().all(...parameters)) as unknown as readonly Row[];
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#prepareOnce(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #prepareOnce(sql: string): StatementSync {
    const statement = this.#database.prepare(toSqlite(sql));
    statement.setReturnArrays(true);
    return statement;
  }
}

/**
 * Rewrites parameters: SQLite takes `$1` for a name, bound by order of appearance. `?`, the next parameter, is far
 * cheaper than the numbered `?1` where there are thousands.
 */
export function toSqlite(sql: string): string {
  const numbers = sql.match(/\$\d+/g) ?? [];
  const inOrder = numbers.every((number, at) => number === `$${at + 1}`);
  return sql.replaceAll(/\$(\d+)/g, inOrder ? '?' : '?$1');
}

/** Retries, because SQLite's own busy timeout does not cover several processes that switch a new file to WAL at once. */
function enterWal(database: DatabaseSync): void {
  const endMs = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (resultCode(error) !== busyCode || performance.now() > endMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyRetryMs);
    }
  }
}

/** Waits for other writers without blocking the thread, as SQLite's own busy timeout would. */
async function beginImmediate(connection: Connection): Promise<void> {
  const endMs = performance.now() + busyTimeoutMs;
  while (!(await tryBegin(connection))) {
    if (performance.now() > endMs) throw new StoreUnavailableError('another process keeps the database to itself');
    await sleep(busyRetryMs);
  }
}

async function tryBegin(connection: Connection): Promise<boolean> {
  await connection.script('PRAGMA busy_timeout = 0');
  try {
    await connection.script('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (resultCode(error) === busyCode) return false;
    throw error;
  } finally {
    await connection.script(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}

/** SQLite's primary result code, without its extension; undefined for errors that are not SQLite's. */
export function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
}

/** Gives SQLite's errors the names that the store knows. */
export function guard<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('errcode' in error && error.errcode === triggerCode) throw new OverQuota(error.message, { cause: error });
    const code = resultCode(error);
    if (code === constraintCode) throw new ConstraintError(error.message, { cause: error });
    if (code === fullCode) throw new StoreFullError('the disk of the database is full', { cause: error });
    if (storageCodes.has(code)) throw new StoreUnavailableError('the database cannot be written', { cause: error });
    throw error;
  }
}

function watchCommits(
  commitCounter: () => number,
  { poll, noChange, doubt }: Watcher,
  lookAtFile: () => boolean,
): () => void {
  let seen = commitCounter();
  const look = () => {
    if (lookAtFile()) doubt();
    const now = commitCounter();
    if (now === seen) {
      noChange();
      return;
    }
    seen = now;
    poll();
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // The poll meets the same fault, and reports it.
      poll();
    }
  }, pollEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
