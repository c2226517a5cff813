import pg from 'pg';

/** A connection that ends with its block. What breaks it is told by its next query: the server may be stopped meanwhile. */
export async function connectPostgres(connectionString: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
