import { existsSync } from 'node:fs';

import type { Database } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

const sqliteScheme = 'sqlite:';

/** The file of `sqlite:PATH`; undefined for PostgreSQL. */
export function sqlitePath(url: string): string | undefined {
  return url.startsWith(sqliteScheme) ? url.slice(sqliteScheme.length) : undefined;
}

export async function openDatabase(url: string): Promise<Database> {
  const path = sqlitePath(url);
  return path === undefined ? openPostgres(url) : openSqlite(path);
}

/** For commands that read a database: a mistyped path must not make a new one. */
export function requireDatabaseFile(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no database at ${path}`);
}
