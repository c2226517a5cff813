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
  {
    name: 'configuration 0002 earlier names',
    sql: `
      CREATE TABLE configuration_earlier_names (
        account_id TEXT NOT NULL REFERENCES accounts (id),
        resource_id TEXT NOT NULL,
        until INTEGER NOT NULL,
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (account_id, resource_id, until)
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

/**
 * Names that resources had at a version. One that is gone has the last name that it had until then; one that came back may have
 * got another.
 */
export async function readPastNames(
  queries: Queries,
  accountId: string,
  version: number,
  ids: ReadonlySet<string>,
): Promise<readonly NamedResource[]> {
  const known = new Map<string, NamedResource>();
  for (const each of await readNames(queries, accountId)) if (ids.has(each.id)) known.set(each.id, each);
  const sql =
    'SELECT scope, name, resource_id, until FROM configuration_earlier_names WHERE account_id = $1 AND ' +
    `(resource_id, until) > ($2, $3) ORDER BY resource_id, until LIMIT ${namesAtOnce}`;
  const pace = new Pace();
  const settled = new Set<string>();
  for (let from: readonly Value[] = ['', 0]; ;) {
    const rows = await queries.all(sql, [accountId, ...from]);
    for (const [scope, name, resourceId, until] of rows) {
      const id = String(resourceId);
      if (!ids.has(id) || settled.has(id)) continue;
      const isSettled = Number(until) >= version;
      if (isSettled) settled.add(id);
      if (isSettled || !known.has(id)) known.set(id, { scope: String(scope), name: String(name), id });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < namesAtOnce) break;
    from = last.slice(2);
    if (pace.isDue) await pace.giveWay();
  }
  // One that had no name yet may have got, since, the one of another that is gone: it gets one anew.
  const byName = new Map<string, NamedResource>();
  for (const each of [...known.values()].toSorted((a, b) => Number(settled.has(b.id)) - Number(settled.has(a.id))))
    if (!byName.has(`${each.scope} ${each.name}`)) byName.set(`${each.scope} ${each.name}`, each);
  return [...byName.values()];
}

/** Keeps the names of resources that are gone, as long as the log tells of them. */
async function keepNames(writer: Writer, accountId: string, ids: readonly string[], places: string): Promise<void> {
  await writer.run(
    `INSERT INTO configuration_earlier_names (account_id, resource_id, until, scope, name)
     SELECT account_id, resource_id, (SELECT version FROM store_version), scope, name
     FROM configuration_names WHERE resource_id IN (${places}) ON CONFLICT DO NOTHING`,
    ids,
  );
  await writer.run(
    `DELETE FROM configuration_earlier_names WHERE account_id = $1 AND until < (SELECT MIN(version) - 1 FROM change_log)`,
    [accountId],
  );
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
    await keepNames(writer, accountId, ids, places);
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
