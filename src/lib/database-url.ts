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

/** Values of `target_session_attrs`: a server that is no standby, or one that also lets sessions write by default. */
const writableTargets: readonly string[] = ['primary', 'read-write'];

/** The servers of a PostgreSQL URL, which may name several, and which of them is meant. */
export interface PostgresServers {
  /** One URL for each, in their order. */
  readonly urls: readonly string[];
  readonly target: 'primary' | 'read-write';
}

/** Reads the form of libpq: `postgres://user@a:5432,b:5432/database?target_session_attrs=read-write`. */
export function postgresServers(url: string): PostgresServers {
  const { before, hosts, after } = splitPostgresUrl(url);
  const target = /[?&]target_session_attrs=read-write(?=[&#]|$)/.test(after) ? 'read-write' : 'primary';
  // The driver does not know it.
  const rest = after.replace(/(?<=[?&])target_session_attrs=[^&#]*&?/, '').replace(/[?&]$/, '');
  return { urls: hosts.map((host) => `${before}${host}${rest}`), target };
}

function splitPostgresUrl(url: string) {
  const [, before = '', hosts = '', after = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return { before, hosts: hosts.split(','), after };
}

/** Says how to write it, where the text names none of the two databases. */
export function databaseUrlFault(text: string): string | undefined {
  if (text === 'sqlite::memory:') return 'name a file: several connections share the database';
  if (/^sqlite:.+/.test(text)) return undefined;
  if (!/^postgres(ql)?:\/\/.+/.test(text) || !postgresServers(text).urls.every((each) => URL.canParse(each)))
    return 'write it as sqlite:PATH or postgres://user:password@host/database';
  const { hosts, after } = splitPostgresUrl(text);
  if (hosts.length > 1 && hosts.includes('')) return 'name a host before and after each comma';
  const target = new URLSearchParams(after.split('?', 2)[1]).get('target_session_attrs');
  if (target === null || writableTargets.includes(target)) return undefined;
  return `target_session_attrs must be ${writableTargets.join(' or ')}: everything is read where it is written`;
}

/** Which database it is, without user and password; the same for all that use it by this name. */
export function describeDatabase(url: string): string {
  const path = sqlitePath(url);
  if (path !== undefined) return resolve(path);
  const all = postgresServers(url).urls.map((each) => new URL(each));
  const hosts = all.map(({ hostname, port }) => `${hostname}:${port || '5432'}`);
  return `PostgreSQL at ${hosts.join(',')}${decodeURIComponent(all[0]?.pathname ?? '')}`;
}
