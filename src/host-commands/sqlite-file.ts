import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readVersion } from '../store/write/change-log.ts';
import type { Queries, Row } from '../store/database.ts';
import { readApplied } from '../store/migrate.ts';
import { resultCode, toSqlite } from '../store/sqlite/sqlite.ts';
import { countRows, readTables } from './catalog.ts';
import { formatTable } from '../lib/text-table.ts';

const busyTimeoutMs = 10_000;
/** Files that SQLite keeps beside a database; one that stays behind would be replayed into the next file of that name. */
export const sideFileEndings = ['-wal', '-shm', '-journal'] as const;

/** The content of a database file that passed the integrity check. */
export interface FileContent {
  readonly version: number;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** Names of the migrations that were applied to it. */
  readonly applied: ReadonlySet<string>;
  readonly bytes: number;
}

/**
 * Makes a durable copy of one state of a database, whoever writes to it meanwhile, under a random name beside `file`.
 * `VACUUM INTO` reads in one transaction, which in WAL mode neither waits for writers nor stops them; SQLite's page-wise
 * backup starts over at each write of another process, and may never end. Free pages are left out.
 */
export async function copyBeside(
  from: string,
  file: string,
  { readOnly }: { readonly readOnly: boolean },
): Promise<string> {
  const copy = `${resolve(file)}.${randomBytes(6).toString('hex')}.partial`;
  // Closed to other users before the first byte, as it holds hashes of tokens and private keys. SQLite accepts an empty file.
  await (await open(copy, 'wx', 0o600)).close();
  try {
    const source = new DatabaseSync(from, { readOnly, timeout: busyTimeoutMs });
    try {
      source.prepare('VACUUM INTO ?').run(copy);
    } finally {
      source.close();
    }
    // SQLite does not wait for the disk here.
    await sync(copy);
    return copy;
  } catch (error) {
    await removePartial(copy);
    throw isNoDatabase(error) ? new Error(`${from} is not a sound Gatehouse database`, { cause: error }) : error;
  }
}

/** Reads the whole file, and refuses one that is damaged or not Gatehouse's. */
export async function inspectFile(file: string): Promise<FileContent> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const queries = queriesOf(database);
    const checked = [
      ...(await queries.all('PRAGMA integrity_check')),
      ...(await queries.all('PRAGMA foreign_key_check')),
    ];
    const faults = checked.map((row) => row.join(' ')).filter((line) => line !== 'ok');
    if (faults.length > 0) throw new Error(`the database is damaged: ${faults.slice(0, 3).join('; ')}`);
    const shapes = await readTables(queries, 'sqlite');
    if (!['store_version', 'applied_migrations'].every((table) => shapes.some(({ name }) => name === table))) {
      throw new Error('it is not a Gatehouse database: the tables that every one has are missing');
    }
    const tables: { name: string; rows: number }[] = [];
    for (const name of shapes.map((shape) => shape.name).toSorted())
      tables.push({ name, rows: await countRows(queries, name) });
    const [size] = await queries.all('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size');
    return {
      version: await readVersion(queries),
      tables,
      applied: await readApplied(queries),
      bytes: Number(size?.[0]),
    };
  } finally {
    database.close();
  }
}

export function describeContent({ version, tables, bytes }: FileContent): string {
  const rows = tables.map(({ name, rows: count }) => [name, count] as const);
  return `${formatTable(['table', 'rows'], rows)}\n\nversion ${version}, ${bytes} bytes`;
}

/** Renames, and makes sure that a power cut does not undo it. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await sync(dirname(resolve(to)));
}

export async function removePartial(copy: string): Promise<void> {
  for (const ending of ['', ...sideFileEndings]) await rm(copy + ending, { force: true });
}

/** True for SQLite's codes of a file that is damaged or no database. */
export function isNoDatabase(error: unknown): boolean {
  const code = resultCode(error);
  return code === 11 || code === 26;
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

function queriesOf(database: DatabaseSync): Queries {
  return {
    async all(sql, parameters = []) {
      const statement = database.prepare(toSqlite(sql));
      statement.setReturnArrays(true);
      // `setReturnArrays` makes every row an array, which the binding's types do not know.
      return statement.all(...parameters) as unknown as readonly Row[];
    },
  };
}
