import type { Change } from './change-log.ts';
import type { Connection, Queries, Row } from '../database.ts';
import type { Migration } from '../migrate.ts';

/** A change of something that was observed, not configured. The followers read the rest where it is stored. */
export type ObservedChange = Pick<Change, 'accountId' | 'kind' | 'id'>;

/** Consecutive observed changes, after the number `from` and up to `to`. */
export interface ObservedStep {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly Change[];
}

/** They are numbered apart from the versions of the configuration, and kept only until every process has seen them. */
export const observedChangesMigration: Migration = {
  name: 'store 0001 observed changes',
  sql: `
    CREATE TABLE observed_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
    INSERT INTO observed_version (one, version) VALUES (1, 0);
    CREATE TABLE observed_changes (
      version INTEGER PRIMARY KEY,
      account_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      resource_id TEXT NOT NULL
    );
  `,
};

/** Changes that stay readable; a process that falls further behind is reset. */
const keptChanges = 10_000;

export async function readObservedVersion(queries: Queries): Promise<number> {
  const [row] = await queries.all('SELECT version FROM observed_version');
  return Number(row?.[0]);
}

export async function appendObserved(
  connection: Connection,
  changes: readonly ObservedChange[],
): Promise<ObservedStep> {
  const from = await readObservedVersion(connection);
  let to = from;
  for (const { accountId, kind, id } of changes) {
    to += 1;
    const sql = 'INSERT INTO observed_changes (version, account_id, kind, resource_id) VALUES ($1, $2, $3, $4)';
    await connection.run(sql, [to, accountId, kind, id]);
  }
  await connection.run('UPDATE observed_version SET version = $1', [to]);
  await connection.run('DELETE FROM observed_changes WHERE version <= $1', [to - keptChanges]);
  return { from, to, changes: changes.map(toChange) };
}

/** Undefined when some are no longer kept. */
export async function readObserved(queries: Queries, from: number, to: number): Promise<readonly Change[] | undefined> {
  const rows = await queries.all(
    `SELECT version, account_id, kind, resource_id FROM observed_changes
     WHERE version > $1 AND version <= $2 ORDER BY version`,
    [from, to],
  );
  return rows[0]?.[0] === from + 1 ? rows.map(fromRow) : undefined;
}

function fromRow([, accountId, kind, id]: Row): Change {
  return toChange({ accountId: String(accountId), kind: String(kind), id: String(id) });
}

function toChange({ accountId, kind, id }: ObservedChange): Change {
  return { accountId, kind, id, before: null, after: null, cascades: false };
}
