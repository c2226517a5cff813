import { postgresServers } from '../../lib/database-url.ts';
import type { Database } from '../database.ts';
import { headSql, toHead } from '../write/history.ts';
import { connect } from './connection.ts';
import { NotificationWatch, notifySql } from './notifications.ts';
import { postgresJson } from './postgres-json.ts';
import { Primary } from './primary.ts';
import { ReaderPool } from './reader-pool.ts';

/** An arbitrary number, which nothing else in the database may use. */
const migrationLock = 4_804_821;
/** Limit for the poll: a change of history is to be noticed soon after a server that was frozen. */
const headTimeoutMs = 2_000;

export async function openPostgres(url: string): Promise<Database> {
  const isPooled = false;
  const primary = new Primary(postgresServers(url));
  const reader = new ReaderPool(primary, isPooled);
  const ownBackends = new Set<number>();
  return {
    reader,
    readHead: async () => toHead(await reader.readWithin(headTimeoutMs, headSql)),
    connect: (statementTimeoutMs) => connect(primary, { isPooled, statementTimeoutMs, open: ownBackends }),
    async beginExclusive(connection) {
      const [, [row]] = await Promise.all([
        connection.script('BEGIN'),
        connection.all('SELECT version, mark FROM store_version FOR UPDATE'),
      ]);
      return { version: Number(row?.[0]), mark: Number(row?.[1]) };
    },
    commit(connection, { point, isSignalled }) {
      // Together: each statement that travels by itself costs as much as its work.
      const statements = [
        ...(point === undefined ? [] : [`UPDATE store_version SET version = ${point.version}, mark = ${point.mark}`]),
        ...(isSignalled ? [notifySql] : []),
        'COMMIT',
      ];
      return connection.script(statements.join('; '));
    },
    beginSnapshot: (connection) => connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    async beginMigration(connection) {
      await connection.script(`BEGIN; SELECT pg_advisory_xact_lock(${migrationLock})`);
    },
    json: postgresJson,
    // Ids sort by their bytes, whatever the database's language.
    translateSchema: (sql) => sql.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"').replaceAll(/\bINTEGER\b/g, 'BIGINT'),
    async watch(watcher) {
      const watch = await NotificationWatch.start(primary, watcher, (backend) => ownBackends.has(backend));
      return () => {
        watch.stop();
      };
    },
    close: () => reader.close(),
  };
}
