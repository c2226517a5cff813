import type { Queries } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import { endEdge, forgetPeople, makeRoom, sessionQuota } from './bounds.ts';
import { appSessions, appUsers, endedKind } from './table.ts';
import { personOf } from '../../modules/sign-in.ts';

/** Rows that one transaction deletes. */
const rowsAtOnce = 100;

const personOfSession = '(SELECT person FROM app_users u WHERE u.id = app_sessions.user_id)';
const expiring = [
  { table: 'app_sessions', column: 'expires_at_ms', kind: appSessions.kind, person: personOfSession },
  { table: 'ended_app_sessions', column: 'ends_at_ms', kind: endedKind, person: 'person' },
  { table: 'app_session_marks', column: 'ends_at_ms', kind: endedKind, person: "''" },
] as const;

/**
 * Deletes sessions that are over by themselves, and what is kept of those that have ended before, with the people of whom
 * nothing is left.
 */
export async function sweep(store: Store, nowMs = Date.now()): Promise<void> {
  await completeUsers(store);
  for (const { table, column, kind, person } of expiring) {
    const due = `SELECT id, account_id, ${person} FROM ${table} WHERE ${column} <= $1 ORDER BY ${column} LIMIT ${rowsAtOnce}`;
    // Several processes may look; whoever finds something takes the right to write.
    while ((await store.queries.all(due, [nowMs])).length > 0) {
      await store.writeUnlogged(async (writer) => {
        for (const [id, accountId, of] of await writer.all(due, [nowMs])) {
          await writer.run(`DELETE FROM ${table} WHERE id = $1`, [String(id)]);
          writer.record({ accountId: String(accountId), kind, id: String(id) });
          await forgetPeople(writer, String(accountId), [String(of)]);
        }
      });
    }
  }
  await endSessionsOfGoneEdges(store);
  await keepWithinQuotas(store);
}

/** Edges that are gone have one mark in place of a row for each session. */
async function endSessionsOfGoneEdges(store: Store): Promise<void> {
  for (const table of ['app_sessions', 'ended_app_sessions']) {
    let after = '';
    for (;;) {
      const edges = await edgesAfter(store.queries, table, after);
      for (const { id, isGone } of edges) {
        if (!isGone) continue;
        await store.writeUnlogged(async (writer) => {
          const sql = `SELECT account_id FROM ${table} WHERE edge_id = $1 AND NOT EXISTS (SELECT 1 FROM https_edges WHERE id = $1) LIMIT 1`;
          const [row] = await writer.all(sql, [id]);
          if (row !== undefined) await endEdge(writer, String(row[0]), id);
        });
      }
      const last = edges.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
  }
}

/** The next edges that sessions name. Each is found by the index, however many sessions it has. */
async function edgesAfter(
  queries: Pick<Queries, 'all'>,
  table: string,
  after: string,
): Promise<readonly { readonly id: string; readonly isGone: boolean }[]> {
  const next = (id: string) => `(SELECT MIN(edge_id) FROM ${table} WHERE edge_id > ${id})`;
  const rows = await queries.all(
    `WITH RECURSIVE found (id, number) AS (
       SELECT ${next('$1')}, 1 UNION ALL
       SELECT ${next('found.id')}, number + 1 FROM found WHERE found.id IS NOT NULL AND number < ${rowsAtOnce})
     SELECT found.id, e.id FROM found LEFT JOIN https_edges e ON e.id = found.id WHERE found.id IS NOT NULL ORDER BY found.id`,
    [after],
  );
  return rows.map(([id, edge]) => ({ id: String(id), isGone: edge === null }));
}

/** The operator may have lowered the quota. */
async function keepWithinQuotas(store: Store): Promise<void> {
  const over = 'SELECT account_id FROM account_usage WHERE quota = $1 AND used > most';
  for (const [accountId] of await store.queries.all(over, [sessionQuota])) {
    const step = (writer: ObservationWriter) => makeRoom(writer, String(accountId));
    while (await store.writeUnlogged(step, String(accountId)));
  }
}

/** Users of older releases have no name as a person. */
async function completeUsers(store: Store): Promise<void> {
  const unnamed = `SELECT document FROM app_users WHERE person = '' LIMIT ${rowsAtOnce}`;
  while ((await store.queries.all(unnamed)).length > 0) {
    await store.writeUnlogged(async (writer) => {
      for (const row of await writer.all(unnamed)) {
        const { id, account_id, provider, subject } = appUsers.parse(row);
        const person = personOf(account_id, provider.url, subject);
        await writer.run('UPDATE app_users SET person = $2 WHERE id = $1', [id, person]);
        await forgetPeople(writer, account_id, [person]);
      }
    });
  }
}
