import { existsSync } from 'node:fs';
import { chown, link, mkdir, open, realpath, rename, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { sqlitePath } from '../lib/database-url.ts';
import { storeMigrations } from '../store/store-migrations.ts';
import { findMissing } from '../store/migrate.ts';
import type { Migration } from '../store/migrate.ts';
import { busyCode, resultCode } from '../store/sqlite/sqlite.ts';
import type { DatabaseCommand } from './database-command.ts';
import { comparePrograms } from './compare-programs.ts';
import { pgToolArguments } from './pg-tools.ts';
import {
  copyBeside,
  describeContent,
  inspectFile,
  isNoDatabase,
  removePartial,
  renameDurably,
  sideFileEndings,
} from './sqlite-file.ts';
import type { FileContent } from './sqlite-file.ts';

export const restoreCommand: DatabaseCommand = {
  name: 'restore',
  summary: 'put a backup in the place of the SQLite database, which is kept; the service must not run',
  options: [
    { flag: '<file>', description: 'a file that `gatehouse backup` wrote', required: true },
    {
      flag: '--force',
      description: 'replace a damaged database, when you know that no process has it open',
      required: false,
    },
  ],
  async run({ url, migrations }, { file = '', force }) {
    const path = sqlitePath(url);
    if (path === undefined) {
      const { target, quoted } = pgToolArguments(url, file);
      throw new Error(
        `the database is PostgreSQL. Make a new, empty database, and fill it with:\n\n` +
          `  pg_restore --exit-on-error --single-transaction --no-owner --dbname=${target} ${quoted}`,
      );
    }
    const content = await restore({ path, file, force: force !== undefined, migrations });
    const { keptAs, isOlder } = content;
    return [
      describeContent(content),
      '',
      `${path} now holds the content of ${file}.`,
      ...(keptAs === undefined ? [] : [`What it held before is kept as ${keptAs}.`]),
      ...(isOlder ? ['It is of an older version; the next start brings it up to date.'] : []),
    ].join('\n');
  },
};

interface RestoreOptions {
  readonly path: string;
  readonly file: string;
  /** Replace a database that is damaged, for which SQLite cannot tell whether it is in use. */
  readonly force: boolean;
  /** All migrations of this version, except the store's own. */
  readonly migrations: readonly Migration[];
}

interface Restored extends FileContent {
  /** The path of the replaced database; undefined if there was none. */
  readonly keptAs: string | undefined;
  /** The backup is of an older version: the next start migrates it. */
  readonly isOlder: boolean;
}

const lockTimeoutMs = 1_000;
const fileHeader = 'SQLite format 3\0';

/** Puts a copy of `file` in the place of the database. At every moment its path holds the old or the new one, whole. */
export async function restore({ path, file, force, migrations }: RestoreOptions): Promise<Restored> {
  if (!existsSync(file)) throw new Error(`there is no backup at ${file}`);
  // Opening a pipe or a device may wait for ever.
  if (!(await stat(file)).isFile()) throw new Error(`${file} is no file but a folder, a pipe or a device`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (existsSync(path) && (await realpath(path)) === (await realpath(file))) {
    throw new Error(`${file} is the database itself`);
  }
  const copy = await copyBeside(file, path, { readOnly: true });
  try {
    const content = await inspectFile(copy);
    const known = [...storeMigrations, ...migrations];
    const isOlder = findMissing(content.applied, known).length > 0;
    const { foreign, missing } = await comparePrograms(copy, content.applied, known);
    if (foreign.length > 0)
      throw new Error(
        `${file} has what Gatehouse does not make, and what would run in its database: ${foreign.slice(0, 5).join(', ')}. ` +
          'Take another backup; or drop these from a copy, if you know where they come from, and restore that',
      );
    if (missing.length > 0)
      throw new Error(
        `${file} lacks what Gatehouse has made in its database: ${missing.slice(0, 5).join(', ')}. Take another backup`,
      );
    await giveToOwnerOf(existsSync(path) ? path : dirname(resolve(path)), copy);
    return { ...content, isOlder, keptAs: await replace(path, copy, force) };
  } catch (error) {
    await removePartial(copy);
    throw error;
  }
}

async function replace(path: string, copy: string, force: boolean): Promise<string | undefined> {
  const exists = existsSync(path);
  const lock = exists ? await lockFile(path, force) : undefined;
  try {
    const kept = `${path}.replaced-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
    // A database that could be locked has no side files: their content is in it now.
    for (const ending of sideFileEndings) {
      if (existsSync(path + ending)) await rename(path + ending, kept + ending);
    }
    // A second name, so that the path is never without a database: a service that starts now would create a new one.
    if (exists) await link(path, kept);
    await renameDurably(copy, path);
    return exists ? kept : undefined;
  } finally {
    lock?.close();
  }
}

/**
 * Locks the database until the connection is closed, and brings all content into the one file. Every process that has a
 * database in WAL mode open holds a lock that conflicts with this one, even while it does nothing.
 */
async function lockFile(path: string, force: boolean): Promise<DatabaseSync | undefined> {
  if (!(await hasHeader(path))) return acceptDamage(path, force, undefined);
  const database = new DatabaseSync(path, { timeout: lockTimeoutMs });
  try {
    database.exec('PRAGMA journal_mode = DELETE');
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (isNoDatabase(error)) return acceptDamage(path, force, error);
    if (resultCode(error) !== busyCode) throw error;
    const message = `${path} is in use: stop every Gatehouse process that has it open, then restore`;
    throw new Error(message, { cause: error });
  }
}

/** SQLite deletes the write-ahead log beside a file that does not begin like a database, and with it what can be saved. */
async function hasHeader(path: string): Promise<boolean> {
  await using handle = await open(path, 'r');
  const { buffer } = await handle.read({ buffer: Buffer.alloc(fileHeader.length), position: 0 });
  return buffer.toString('latin1') === fileHeader;
}

function acceptDamage(path: string, force: boolean, cause: unknown): undefined {
  if (force) return;
  throw new Error(
    `${path} is damaged, so that nobody can tell whether it is in use. Stop every Gatehouse process that has it open, ` +
      'then repeat with --force; the damaged files are kept',
    cause === undefined ? {} : { cause },
  );
}

/** Lets the service's own user open a file that an administrator restored. */
async function giveToOwnerOf(model: string, copy: string): Promise<void> {
  const [wanted, present] = [await stat(model), await stat(copy)];
  if (wanted.uid === present.uid && wanted.gid === present.gid) return;
  await chown(copy, wanted.uid, wanted.gid);
}
