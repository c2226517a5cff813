import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SQLOutputValue, StatementSync } from 'node:sqlite';
import { serialize } from 'node:v8';

import type { UpdatePart } from '../update-parts.ts';
import { takeLock } from './lock.ts';
import { addSum, checkFormat, createTables, noSum, readHead, sumOf, writeHead } from './format.ts';
import type { FileHead } from './format.ts';

/** Bytes of the write-ahead log that stay when it begins anew. */
const logBytes = 16 * 1024 * 1024;

/**
 * Writes a snapshot file, each update in one transaction: the file is of one version at any moment, also after a crash. It
 * waits for the disk, and is therefore used in a thread of its own.
 */
export class SnapshotWriter implements Disposable {
  readonly #path: string;
  readonly #lock: Disposable;
  #open: OpenFile;
  /** The sums of all entries together, within a transaction. */
  #total = noSum.slice();
  /** Rows that the update has; undefined unless it is whole. */
  #named: Set<number> | undefined;

  /** Takes the file over if it is of this form and nobody else writes it, and makes it anew if it is not. */
  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#lock = takeLock(path);
    try {
      this.#open = prepared(path, openDatabase(path) ?? makeDatabase(path, fillEmpty));
    } catch (error) {
      this.#lock[Symbol.dispose]();
      throw error;
    }
  }

  /** `isFull`: entries that do not come are gone. Otherwise it follows what the same process has written. */
  begin({ isFull, writer }: { readonly isFull: boolean; readonly writer: string }): void {
    if (identityOf(this.#path) !== this.#open.identity) this.#putBack();
    const { database } = this.#open;
    database.exec('BEGIN IMMEDIATE');
    const head = readHead(database);
    if (!isFull && head?.writer !== writer)
      throw new Error(`${this.#path} was written by another process; start this one again to have it written anew`);
    this.#total = (head?.total ?? noSum).slice();
    this.#named = isFull ? new Set() : undefined;
  }

  /** Only what differs from what is there is written. */
  put({ set, removed }: UpdatePart): void {
    const { find, put } = this.#open;
    for (const entry of set) {
      const bytes = serialize(entry);
      const sum = sumOf(bytes);
      const old = find.get(entry.kind, entry.id);
      const isThere = old !== undefined && isSame(old['sum'], sum) && isSame(old['bytes'], bytes);
      const { lastInsertRowid } = isThere ? {} : put.run(entry.kind, entry.id, sum, bytes);
      this.#named?.add(Number(old?.['row'] ?? lastInsertRowid));
      if (isThere) continue;
      for (const each of [old?.['sum'], sum]) this.#count(each);
    }
    for (const { kind, id } of removed) {
      const old = find.get(kind, id);
      if (old !== undefined) this.#remove(old);
    }
  }

  commit(head: FileHead): void {
    const { database } = this.#open;
    const named = this.#named;
    if (named !== undefined) {
      // What a damaged file says of itself does not count.
      this.#total = noSum.slice();
      for (const each of database.prepare('SELECT rowid AS row, sum FROM entries').all())
        if (named.has(Number(each['row']))) this.#count(each['sum']);
        else this.#open.drop.run(Number(each['row']));
    }
    writeHead(database, { ...head, total: this.#total });
    database.exec('COMMIT');
  }

  /** Drops what has come since `begin`. */
  abandon(): void {
    // A full disk may have ended it already.
    const { database } = this.#open;
    if (database.isTransaction) database.exec('ROLLBACK');
  }

  /** What was written is then in the file itself. */
  [Symbol.dispose](): void {
    this.#open.database.close();
    this.#lock[Symbol.dispose]();
  }

  /** Somebody has moved or removed the file, which is still open here. */
  #putBack(): void {
    const { database } = this.#open;
    const copied = makeDatabase(this.#path, (beside) => {
      database.prepare('VACUUM INTO ?').run(beside);
    });
    database.close();
    this.#open = prepared(this.#path, copied);
  }

  #remove({ row, sum }: Record<string, SQLOutputValue>): void {
    this.#open.drop.run(Number(row));
    this.#count(sum);
  }

  /** Adds the sum of an entry to that of all, or takes it out of it. */
  #count(sum: SQLOutputValue | Uint8Array | undefined): void {
    if (sum instanceof Uint8Array) addSum(this.#total, sum);
  }
}

function isSame(stored: SQLOutputValue | undefined, bytes: Uint8Array): boolean {
  return stored instanceof Uint8Array && Buffer.compare(stored, bytes) === 0;
}

interface OpenFile {
  readonly database: DatabaseSync;
  readonly identity: string | undefined;
  readonly find: StatementSync;
  readonly put: StatementSync;
  readonly drop: StatementSync;
}

function prepared(path: string, database: DatabaseSync): OpenFile {
  // What is in the log when the power fails may be lost, but not the file.
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${logBytes}`);
  return {
    database,
    identity: identityOf(path),
    find: database.prepare('SELECT rowid AS row, sum, bytes FROM entries WHERE kind = ? AND id = ?'),
    put: database.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET sum = excluded.sum, bytes = excluded.bytes',
    ),
    drop: database.prepare('DELETE FROM entries WHERE rowid = ?'),
  };
}

/** Codes of SQLite for a file that cannot be read as a database: the others are about the disk. */
const damaged: ReadonlySet<unknown> = new Set([11, 26]);

/** Undefined where the file must be made anew. */
function openDatabase(path: string): DatabaseSync | undefined {
  if (identityOf(path) === undefined) return undefined;
  const database = new DatabaseSync(path);
  try {
    checkFormat(database);
    readHead(database);
    return database;
  } catch (error) {
    database.close();
    const isOfDisk = error instanceof Error && 'errcode' in error && !damaged.has(error.errcode);
    if (isOfDisk) throw error;
    return undefined;
  }
}

/** A crash leaves what was there before, or the new one. `fill` fills the empty file that it is given. */
function makeDatabase(path: string, fill: (beside: string) => void): DatabaseSync {
  const beside = `${path}.partial`;
  remove(beside);
  // What SQLite makes beside it has the same mode.
  closeSync(openSync(beside, 'wx', 0o600));
  fill(beside);
  remove(path);
  renameSync(beside, path);
  return new DatabaseSync(path);
}

function fillEmpty(beside: string): void {
  const database = new DatabaseSync(beside);
  try {
    createTables(database);
  } finally {
    database.close();
  }
}

function remove(path: string): void {
  for (const end of ['-wal', '-shm', '']) rmSync(`${path}${end}`, { force: true });
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}
