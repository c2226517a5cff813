import type { Config } from '../config/config.ts';
import { isSqlite } from '../lib/database-url.ts';

/** The fault of a start, with the setting to change; undefined where its own message says what to do. */
export function explainStart(error: unknown, config: Config): Error | undefined {
  const from = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(from instanceof Error) || !('code' in from)) return undefined;
  return 'port' in from ? explainListen(from, from.port, config) : explainDatabaseFile(from, config);
}

function explainListen(from: Error, port: unknown, config: Config): Error | undefined {
  const listeners = {
    'api-listen': config.apiListen,
    'https-listen': config.httpsListen,
    'http-listen': config.httpListen,
    'metrics-listen': config.metricsListen,
  };
  const [flag] = Object.entries(listeners).find(([, listener]) => listener?.port === port) ?? [];
  if (flag === undefined) return undefined;
  return new Error(`it cannot listen: choose another address with --${flag}, or free this one`, { cause: from });
}

function explainDatabaseFile(from: Error & { readonly code: unknown }, { databaseUrl }: Config): Error | undefined {
  const isOfFile = from.code === 'ERR_SQLITE_ERROR' || ('syscall' in from && from.syscall === 'mkdir');
  if (!isOfFile || !isSqlite(databaseUrl)) return undefined;
  return new Error(`the database ${databaseUrl} cannot be opened: check --database-url and the rights on its folder`, {
    cause: from,
  });
}

/** One line about an error, with its causes behind it. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's own error for several failed attempts says nothing itself.
  const text =
    error.message === '' && error instanceof AggregateError ? error.errors.map(explain).join('; ') : error.message;
  return error.cause === undefined ? text : `${text} (${explain(error.cause)})`;
}
