import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { readVersion } from '../store/change-log.ts';
import type { Queries, Row } from '../store/database.ts';
import { readApplied } from '../store/migrate.ts';
import { resultCode, toSqlite } from '../store/sqlite.ts';
import { countRows, readTables } from './catalog.ts';
import { formatTable } from './text-table.ts';

const busyTimeoutMs = 10_000;
/** Files that SQLite keeps beside a database; one that stays behind would be played into whatever has the name next. */
export const sideFileEndings = ['-wal', '-shm', '-journal'] as const;

/** What is in a database file that was found sound. */
export interface FileContent {
  readonly version: number;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** Names of the migrations it has seen. */
  readonly applied: ReadonlySet<string>;
  readonly bytes: number;
}

/**
 * Makes a durable copy of one state of a database, whoever writes to it meanwhile, under a name of its own beside `file`.
 * `VACUUM INTO` reads in one transaction, which in WAL mode neither waits for writers nor stops them; the page-wise
 * backup begins again at each write of another process, and may never end. It also leaves out what was deleted.
 */
export async function copyBeside(
  from: string,
  file: string,
  { readOnly }: { readonly readOnly: boolean },
): Promise<string> {
  const copy = `${resolve(file)}.${randomBytes(6).toString('hex')}.partial`;
  // It holds hashes of tokens and private keys: closed to others before the first byte. SQLite accepts an empty file.
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

/** Reads it through and refuses what is damaged or foreign. */
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

/** Gives the copy its name, for good. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await sync(dirname(resolve(to)));
}

export async function removePartial(copy: string): Promise<void> {
  for (const ending of ['', ...sideFileEndings]) await rm(copy + ending, { force: true });
}

/** SQLite's own codes for a file that is damaged, or something else altogether. */
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
    all(sql, parameters = []) {
      const statement = database.prepare(toSqlite(sql));
      statement.setReturnArrays(true);
      // `setReturnArrays` makes every row an array, which the binding's types do not know.
      return statement.all(...parameters) as unknown as readonly Row[];
    },
  };
}
