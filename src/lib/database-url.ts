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
