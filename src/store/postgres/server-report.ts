import pg from 'pg';

import type { PostgresServers } from '../../lib/database-url.ts';
import { guard } from './faults.ts';

/** Facts that a server tells of itself. */
export interface ServerReport {
  /** True if it is no standby, and not read-only where the URL asks for that. */
  readonly takesWrites: boolean;
  /** Start of the server, in seconds: differs between two servers, and before and after a restart. */
  readonly startedAt: string;
  /** Identifier of the database system, which a primary and its standbys share; empty where the server does not tell it. */
  readonly system: string;
  /** Raised by every promotion; 0 where the server does not tell it. */
  readonly timeline: number;
}

/**
 * Every role may call these functions, unless a service has taken the right away. The timeline of a primary is that of the
 * file to which it writes; a standby knows of the one that its last restart point has, or that it has to reach.
 */
const originSql = `
  (SELECT system_identifier::text FROM pg_control_system()),
  CASE WHEN pg_is_in_recovery()
    THEN (SELECT greatest(timeline_id, min_recovery_end_timeline) FROM pg_control_checkpoint(), pg_control_recovery())
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer END`;
const noOriginSql = `'', 0`;
/** SQLSTATE of a function that is missing, forbidden or not supported. */
const noFunction = /^(42|0A)/;

/** Asks the server at the other end of a connection. */
export async function askServer(client: pg.ClientBase, target: PostgresServers['target']): Promise<ServerReport> {
  const isReadOnly = target === 'read-write' ? " OR current_setting('transaction_read_only') = 'on'" : '';
  const ask = async (origin: string): Promise<ServerReport> => {
    const takesWrites = `NOT (pg_is_in_recovery()${isReadOnly})`;
    const text = `SELECT ${takesWrites}, extract(epoch FROM pg_postmaster_start_time())::text, ${origin}`;
    const { rows } = await client.query<[boolean, string, string, number]>({ text, rowMode: 'array' });
    const [row] = rows;
    if (row === undefined) throw new Error('the database has not said who it is');
    return { takesWrites: row[0], startedAt: row[1], system: row[2], timeline: row[3] };
  };
  try {
    return await ask(originSql);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !noFunction.test(error.code ?? ''))
      return guard(() => Promise.reject(error));
    return guard(() => ask(noOriginSql));
  }
}

/** Asks whoever answers at an address, over a new connection. */
export async function askAddress(
  config: pg.ClientConfig,
  target: PostgresServers['target'],
  limitMs: number,
): Promise<ServerReport> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 0 });
  // Without a listener a lost connection would end the process.
  client.on('error', () => {});
  // An answer that has come while this process was busy is read first: between the timer and the end, sockets have their turn.
  const limit = setTimeout(() => setImmediate(() => setImmediate(() => destroy(client))), limitMs);
  try {
    await client.connect();
    const report = await askServer(client, target);
    void client.end();
    return report;
  } catch (error) {
    destroy(client);
    throw error;
  } finally {
    clearTimeout(limit);
  }
}

/** True if both are of one server that was not restarted or promoted in between. */
export function isSameServer(one: ServerReport, other: ServerReport): boolean {
  return one.startedAt === other.startedAt && one.system === other.system && one.timeline === other.timeline;
}

/** Ends a connection at once, whatever is under way on it. */
export function destroy(client: pg.ClientBase): void {
  // The driver has it, and its types do not.
  (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}
