import { existsSync } from 'node:fs';
import { copyFile, link, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { newSqlite } from './scratch.ts';

/** A SQLite database that has all tables and no rows. */
let model: Promise<string> | undefined;
let copies = 0;

/** Gives a SQLite database its tables, as a copy, where its folder is still empty: to make them takes a tenth of the start of a program. */
export async function fillNewSqlite(url: string): Promise<void> {
  const path = pathOf(url);
  if ((await readdir(dirname(path))).length > 0) return;
  model ??= findModel();
  await copyAtOnce(await model, path);
}

/** The model of the run, which the first process that needs one makes. */
async function findModel(): Promise<string> {
  const shared = process.env['TEST_SQLITE_MODEL'];
  if (shared !== undefined && existsSync(shared)) return shared;
  const url = newSqlite();
  const { makeTables } = await import('./migrated-database.ts');
  await makeTables(url);
  if (shared !== undefined) await copyAtOnce(pathOf(url), shared);
  return pathOf(url);
}

/** Copies a file so that it is whole when it is there, and only where another that does the same has not made it meanwhile. */
async function copyAtOnce(from: string, to: string): Promise<void> {
  const copied = `${to}-copied-${process.pid}-${(copies += 1)}`;
  await copyFile(from, copied);
  await link(copied, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(copied);
}

function pathOf(sqliteUrl: string): string {
  return sqliteUrl.replace(/^sqlite:/, '');
}
