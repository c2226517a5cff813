import { chunks } from '../../lib/chunks.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Queries, Value } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { Pace } from '../../lib/pace.ts';

/** The name of a resource in configurations; it lives apart from the resource, whose fields are the user's. */
export interface NamedResource {
  readonly scope: string;
  readonly name: string;
  readonly id: string;
}

export const migrations: readonly Migration[] = [
  {
    name: 'configuration 0001 names',
    sql: `
      CREATE TABLE configuration_names (
        account_id TEXT NOT NULL REFERENCES accounts (id),
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        resource_id TEXT NOT NULL UNIQUE,
        PRIMARY KEY (account_id, scope, name)
      );
    `,
  },
];

const namesAtOnce = 2_048;
/** PostgreSQL takes at most 65,535 parameters, SQLite 32,766. */
const rowsAtOnce = 1_024;

type Writer = Pick<Transaction, 'run'>;

export async function readNames(queries: Queries, accountId: string): Promise<readonly NamedResource[]> {
  const sql =
    'SELECT scope, name, resource_id FROM configuration_names WHERE account_id = $1 AND resource_id > $2 ' +
    `ORDER BY resource_id LIMIT ${namesAtOnce}`;
  const pace = new Pace();
  const names: NamedResource[] = [];
  for (;;) {
    const rows = await queries.all(sql, [accountId, names.at(-1)?.id ?? '']);
    for (const [scope, name, id] of rows) names.push({ scope: String(scope), name: String(name), id: String(id) });
    if (rows.length < namesAtOnce) return names;
    if (pace.isDue) await pace.giveWay();
  }
}

/** Deletes the names of resources that are gone, then gives names to others. */
export async function writeNames(
  writer: Writer,
  accountId: string,
  gone: readonly string[],
  fresh: readonly NamedResource[],
): Promise<void> {
  for (const ids of chunks(gone, rowsAtOnce)) {
    const places = ids.map((_, at) => `$${at + 1}`).join(', ');
    await writer.run(`DELETE FROM configuration_names WHERE resource_id IN (${places})`, ids);
  }
  for (const rows of chunks(fresh, rowsAtOnce)) {
    const places = rows.map((_, at) => `($${at * 4 + 1}, $${at * 4 + 2}, $${at * 4 + 3}, $${at * 4 + 4})`).join(', ');
    const values = rows.flatMap(({ scope, name, id }): Value[] => [accountId, scope, name, id]);
    // Somebody else may have remembered the same names meanwhile.
    const sql = `INSERT INTO configuration_names (account_id, scope, name, resource_id) VALUES ${places} ON CONFLICT DO NOTHING`;
    await writer.run(sql, values);
  }
}
