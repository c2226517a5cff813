import type { Change } from './change-log.ts';
import { headSql, toHead, toPoint, wayOn } from './history.ts';
import type { Point, Way } from './history.ts';
import type { Connection, Queries } from '../database.ts';
import type { Migration } from '../migrate.ts';

/** A change of something that was observed, not configured. The followers read the rest where it is stored. */
export type ObservedChange = Pick<Change, 'accountId' | 'kind' | 'id'>;

/** Consecutive observed changes, after the point `from` and up to `to`. */
export interface ObservedStep {
  readonly from: Point;
  readonly to: Point;
  readonly changes: readonly Change[];
}

/** Observed changes have numbers of their own beside the versions of the configuration, and are kept only until every process has seen them. */
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

export async function appendObserved(
  connection: Connection,
  changes: readonly ObservedChange[],
  mark: number,
): Promise<ObservedStep> {
  const { observed: from } = toHead(await connection.all(headSql));
  let { version } = from;
  for (const { accountId, kind, id } of changes) {
    version += 1;
    const sql =
      'INSERT INTO observed_changes (version, account_id, kind, resource_id, mark) VALUES ($1, $2, $3, $4, $5)';
    await connection.run(sql, [version, accountId, kind, id, mark]);
  }
  await connection.run('UPDATE observed_version SET version = $1, mark = $2', [version, mark]);
  await connection.run('DELETE FROM observed_changes WHERE version <= $1', [version - keptChanges]);
  return { from, to: { version, mark }, changes: changes.map(toChange) };
}

/** The changes after `from`, up to and including the version `to`. */
export async function readObserved(queries: Queries, from: Point, to: number): Promise<Way<ObservedStep>> {
  const rows = await queries.all(
    `SELECT version, mark, account_id, kind, resource_id FROM observed_changes
     WHERE version >= $1 AND version <= $2 ORDER BY version`,
    [from.version, to],
  );
  return wayOn(from, rows.map(toPoint), (start) => ({
    from,
    to: toPoint(rows.at(-1) ?? []),
    changes: rows
      .slice(start)
      .map(([, , accountId, kind, id]) =>
        toChange({ accountId: String(accountId), kind: String(kind), id: String(id) }),
      ),
  }));
}

function toChange({ accountId, kind, id }: ObservedChange): Change {
  return { accountId, kind, id, before: null, after: null, cascades: false };
}
