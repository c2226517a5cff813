import { postgresServers } from '../../lib/database-url.ts';
import type { Database } from '../database.ts';
import { headSql, toHead } from '../write/history.ts';
import { beginPooled, connect } from './connection.ts';
import { counting } from './count-rows.ts';
import { NotificationWatch, notifySql, pollOften } from './notifications.ts';
import { postgresJson } from './postgres-json.ts';
import { Primary } from './primary.ts';
import { ReaderPool } from './reader-pool.ts';

/** An arbitrary number, which nothing else in the database may use. */
const migrationLock = 4_804_821;
/** Limit for the poll: a change of history is to be noticed soon after a server that was frozen. */
const headTimeoutMs = 2_000;

/**
 * With `listenUrl`, `url` leads through a pooler that gives each transaction any connection: nothing is kept in one for
 * longer, and signals come from the server at `listenUrl`, or by polling if that is `off`.
 */
export async function openPostgres(url: string, listenUrl?: string): Promise<Database> {
  const isPooled = listenUrl !== undefined;
  const primary = new Primary(postgresServers(url));
  const reader = new ReaderPool(primary, isPooled);
  const ownBackends = new Set<number>();
  return {
    reader,
    readHead: async () => toHead(await reader.readWithin(headTimeoutMs, headSql)),
    connect: (statementTimeoutMs) => connect(primary, { isPooled, statementTimeoutMs, open: ownBackends }),
    async beginExclusive(connection) {
      const [, [row]] = await Promise.all([
        connection.script(isPooled ? beginPooled : 'BEGIN'),
        connection.all('SELECT version, mark FROM store_version FOR UPDATE'),
      ]);
      return { version: Number(row?.[0]), mark: Number(row?.[1]) };
    },
    async commit(connection, { point, isSignalled }) {
      // Together: each statement that travels by itself costs as much as its work.
      const statements = [
        ...(point === undefined ? [] : [`UPDATE store_version SET version = ${point.version}, mark = ${point.mark}`]),
        ...(isSignalled ? [notifySql] : []),
        'COMMIT',
      ];
      await connection.script(statements.join('; '));
      // A server that is no longer the database also calls it a success.
      await connection.confirm?.();
    },
    // A standby refuses it, also one behind a pooler.
    beginSnapshot: (connection) => connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE'),
    async beginMigration(connection) {
      await connection.script(`BEGIN; SELECT pg_advisory_xact_lock(${migrationLock})`);
    },
    json: postgresJson,
    // What a transaction waited for counts too.
    clockSql: 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
    // Ids sort by their bytes, whatever the database's language.
    translateSchema: (sql) => sql.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"').replaceAll(/\bINTEGER\b/g, 'BIGINT'),
    counting,
    fault: () => primary.fault,
    async watch(watcher) {
      primary.onMove(() => {
        watcher.doubt();
        watcher.poll();
      });
      if (listenUrl === 'off') return pollOften(watcher);
      const listening = isPooled ? new Primary(postgresServers(listenUrl)) : primary;
      const watch = await NotificationWatch.start(listening, watcher, (backend) => ownBackends.has(backend));
      return () => {
        watch.stop();
        if (listening !== primary) listening.close();
      };
    },
    close: () => {
      primary.close();
      return reader.close();
    },
  };
}
