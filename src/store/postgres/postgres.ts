import { postgresServers } from '../../lib/database-url.ts';
import type { Database } from '../database.ts';
import { connect } from './connection.ts';
import { NotificationWatch, notifySql } from './notifications.ts';
import { postgresJson } from './postgres-json.ts';
import { Primary } from './primary.ts';
import { ReaderPool } from './reader-pool.ts';

/** An arbitrary number, which nothing else in the database may use. */
const migrationLock = 4_804_821;

export async function openPostgres(url: string): Promise<Database> {
  const isPooled = false;
  const primary = new Primary(postgresServers(url));
  const reader = new ReaderPool(primary, isPooled);
  const ownBackends = new Set<number>();
  return {
    reader,
    connect: (statementTimeoutMs) => connect(primary, { isPooled, statementTimeoutMs, open: ownBackends }),
    async beginExclusive(connection) {
      const [, [row]] = await Promise.all([
        connection.script('BEGIN'),
        connection.all('SELECT version FROM store_version FOR UPDATE'),
      ]);
      return Number(row?.[0]);
    },
    commit(connection, { version, isSignalled }) {
      // Together: each statement that travels by itself costs as much as its work.
      const statements = [
        ...(version === undefined ? [] : [`UPDATE store_version SET version = ${version}`]),
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
    async watch({ poll }) {
      const watch = await NotificationWatch.start(primary, poll, (backend) => ownBackends.has(backend));
      return () => {
        watch.stop();
      };
    },
    close: () => reader.close(),
  };
}
