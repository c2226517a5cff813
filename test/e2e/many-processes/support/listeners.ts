import { connectPostgres } from '../../../support/postgres-client.ts';

const condition = `datname = current_database() AND query LIKE 'LISTEN %'`;

/** Returns the ids of server processes behind the LISTEN connections of Gatehouse. */
export async function listenersOf(databaseUrl: string): Promise<ReadonlySet<number>> {
  await using client = await connectPostgres(databaseUrl);
  const { rows } = await client.query(`SELECT pid FROM pg_stat_activity WHERE ${condition}`);
  return new Set(rows.map(({ pid }) => Number(pid)));
}

export async function killListeners(databaseUrl: string): Promise<void> {
  await using client = await connectPostgres(databaseUrl);
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${condition}`);
}
