import { resolve } from 'node:path';

const sqliteScheme = 'sqlite:';

/** False for PostgreSQL, the other database there is. */
export function isSqlite(url: string): boolean {
  return url.startsWith(sqliteScheme);
}

/** The file of `sqlite:PATH`; undefined for PostgreSQL. */
export function sqlitePath(url: string): string | undefined {
  return isSqlite(url) ? url.slice(sqliteScheme.length) : undefined;
}

/** Says how to write it, where the text names none of the two databases. */
export function databaseUrlFault(text: string): string | undefined {
  if (text === 'sqlite::memory:') return 'name a file: several connections share the database';
  if (/^sqlite:.+/.test(text)) return undefined;
  if (/^postgres(ql)?:\/\/.+/.test(text) && URL.canParse(text)) return undefined;
  return 'write it as sqlite:PATH or postgres://user:password@host/database';
}

/** Which database it is, without user and password; the same for all that use it by this name. */
export function describeDatabase(url: string): string {
  const path = sqlitePath(url);
  if (path !== undefined) return resolve(path);
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL at ${hostname}:${port || '5432'}${decodeURIComponent(pathname)}`;
}
