import { existsSync } from 'node:fs';

import { sqlitePath } from '../lib/database-url.ts';
import type { Database } from './database.ts';
import { refuseForeignFile } from './sqlite/foreign-file.ts';
import { refuseLostFile } from './sqlite/lost-file.ts';
import { openPostgres } from './postgres/postgres.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/**
 * `sqlite:PATH`, whose file is created where there is none, or `postgres://…`. With a URL to listen at, the other one leads
 * through a pooler.
 */
export async function openDatabase(url: string, listenUrl?: string): Promise<Database> {
  const path = sqlitePath(url);
  if (path === undefined) return openPostgres(url, listenUrl);
  await refuseLostFile(path);
  refuseForeignFile(path);
  return openSqlite(path);
}

/** Keeps a command from creating a database at a mistyped path, where it would look like an empty one. */
export function requireDatabaseFile(path: string): void {
  if (existsSync(path)) return;
  throw new Error(`there is no database at ${path}: name the one of the service with --database-url`);
}
