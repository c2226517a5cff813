import pg from 'pg';

/** Runs work over a connection of its own to the database. */
async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const condition = `datname = current_database() AND query LIKE 'LISTEN %'`;

/** Returns the ids of server processes behind the LISTEN connections of Gatehouse. */
export function listenersOf(databaseUrl: string): Promise<ReadonlySet<number>> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(`SELECT pid FROM pg_stat_activity WHERE ${condition}`);
    return new Set(rows.map(({ pid }) => Number(pid)));
  });
}

export async function killListeners(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) =>
    client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${condition}`),
  );
}
