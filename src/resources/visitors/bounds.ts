import { readUsage } from '../../store/usage.ts';
import type { ObservationWriter, Transaction } from '../../store/write/transaction.ts';
import { appSessions, appUsers, endedKind } from './table.ts';

/** The quota that counts sessions, those that were ended before their time, and marks. */
export const sessionQuota = 'app_sessions';

/** Rows of one person, live or ended, and how many are left when there are more. */
const personRows = { most: 200, left: 150 };
/** Rows of an account that are given up at once where it has as many as it may. */
const rowsAtOnce = 100;
/** No session is good for longer. */
const longestMs = 366 * 86_400_000;

type Writer = Pick<Transaction, 'all' | 'run'>;

/** Sessions, live and ended, by a column that both tables have or that each has for the same. */
interface Scope {
  readonly live: string;
  readonly ended: string;
  readonly values: readonly [live: string, ended: string];
}

const ofAccount = (accountId: string): Scope => ({
  live: 'account_id = $1',
  ended: 'account_id = $2',
  values: [accountId, accountId],
});
const ofEdge = (edgeId: string): Scope => ({ live: 'edge_id = $1', ended: 'edge_id = $2', values: [edgeId, edgeId] });
const ofPerson = (userId: string, person: string): Scope => ({
  live: 'user_id = $1',
  ended: 'person = $2',
  values: [userId, person],
});

/**
 * True if a session that was begun then has ended with others of its account, edge or person. What was ended so needs no row of
 * its own.
 */
export async function isOverByMark(writer: Writer, owners: readonly string[], begunAt: number): Promise<boolean> {
  const places = owners.map((_, at) => `$${at + 2}`).join(', ');
  const sql = `SELECT id FROM app_session_marks WHERE begun_until >= $1 AND id IN (${places})`;
  return (await writer.all(sql, [begunAt, ...owners])).length > 0;
}

/** Ends all sessions of an edge that is gone: it may come back, and with it what has ended there. */
export async function endEdge(writer: ObservationWriter, accountId: string, edgeId: string): Promise<void> {
  await end(writer, accountId, edgeId, ofEdge(edgeId), Math.floor(Date.now() / 1000));
}

/** Ends the oldest sessions of a person who has too many: nobody fills an account by signing in and out. */
export async function boundPerson(
  writer: ObservationWriter,
  accountId: string,
  userId: string,
  person: string,
): Promise<void> {
  const scope = ofPerson(userId, person);
  const [tooMany] = await writer.all(newestFirst(scope, personRows.most), scope.values);
  if (tooMany === undefined) return;
  const [[begunUntil] = []] = await writer.all(newestFirst(scope, personRows.left), scope.values);
  await end(writer, accountId, person, scope, Number(begunUntil));
}

/**
 * Ends the oldest sessions of an account that has as many as it may: whoever comes gets in, and whoever came longest ago signs in
 * again. True if there may be more to do.
 */
export async function makeRoom(writer: ObservationWriter, accountId: string): Promise<boolean> {
  const usage = (await readUsage(writer, accountId)).find(({ quota }) => quota === sessionQuota);
  if (usage === undefined || usage.used < usage.most) return false;
  const scope = ofAccount(accountId);
  const oldest = (table: string, condition: string) =>
    `SELECT * FROM (SELECT begun_at FROM ${table} WHERE ${condition} AND begun_at < ${Number.MAX_SAFE_INTEGER} ORDER BY begun_at LIMIT ${rowsAtOnce}) ${table}_oldest`;
  const [[begunUntil] = []] = await writer.all(
    `SELECT MAX(begun_at) FROM (SELECT begun_at FROM (
       ${oldest('app_sessions', scope.live)} UNION ALL ${oldest('ended_app_sessions', scope.ended)}
     ) both_oldest ORDER BY begun_at LIMIT ${rowsAtOnce}) oldest`,
    scope.values,
  );
  if (begunUntil === undefined || begunUntil === null) return false;
  await end(writer, accountId, accountId, scope, Number(begunUntil));
  return usage.used - rowsAtOnce >= usage.most;
}

/** Deletes people of whom nothing is left: neither a session nor one that was ended before its time. */
export async function forgetPeople(
  writer: ObservationWriter,
  accountId: string,
  people: Iterable<string>,
): Promise<void> {
  for (const person of people) {
    const left = `SELECT u.id FROM app_users u WHERE u.person = $1
      AND NOT EXISTS (SELECT 1 FROM app_sessions s WHERE s.user_id = u.id)
      AND NOT EXISTS (SELECT 1 FROM ended_app_sessions e WHERE e.person = u.person)`;
    for (const [id] of person === '' ? [] : await writer.all(left, [person])) {
      await writer.run('DELETE FROM app_users WHERE id = $1', [String(id)]);
      writer.record({ accountId, kind: appUsers.kind, id: String(id) });
    }
  }
}

async function end(
  writer: ObservationWriter,
  accountId: string,
  owner: string,
  scope: Scope,
  begunUntil: number,
): Promise<void> {
  const people = await peopleOf(writer, scope, begunUntil);
  const { live, ended, values } = scope;
  // The rows go first: they make room for the mark.
  for (const [table, kind, condition, value] of [
    ['app_sessions', appSessions.kind, live, values[0]],
    ['ended_app_sessions', endedKind, ended.replace('$2', '$1'), values[1]],
  ] as const) {
    const begun = `FROM ${table} WHERE ${condition} AND begun_at <= $2`;
    for (const [id] of await writer.all(`SELECT id ${begun}`, [value, begunUntil]))
      writer.record({ accountId, kind, id: String(id) });
    await writer.run(`DELETE ${begun}`, [value, begunUntil]);
  }
  await markEnded(writer, owner, accountId, begunUntil);
  writer.record({ accountId, kind: endedKind, id: owner });
  await forgetPeople(writer, accountId, people);
}

/** One row behind so many newer ones, if there is one. */
function newestFirst({ live, ended }: Scope, offset: number): string {
  return `SELECT begun_at FROM (
    SELECT begun_at FROM app_sessions WHERE ${live} UNION ALL SELECT begun_at FROM ended_app_sessions WHERE ${ended}
  ) own ORDER BY begun_at DESC LIMIT 1 OFFSET ${offset}`;
}

async function peopleOf(writer: Writer, { live, ended, values }: Scope, begunUntil: number): Promise<Set<string>> {
  const rows = await writer.all(
    `SELECT u.person FROM app_sessions s JOIN app_users u ON u.id = s.user_id WHERE s.${live} AND s.begun_at <= $3
     UNION SELECT person FROM ended_app_sessions WHERE ${ended} AND begun_at <= $3`,
    [...values, begunUntil],
  );
  return new Set(rows.map(([person]) => String(person)));
}

/** Ends all sessions of an account, an edge or a person (`id`) that were begun until a time, whether they are known here or not. */
export async function markEnded(writer: Writer, id: string, accountId: string, begunUntil: number): Promise<void> {
  await writer.run(
    `INSERT INTO app_session_marks (id, account_id, begun_until, ends_at_ms) VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET ends_at_ms = excluded.ends_at_ms, begun_until =
       CASE WHEN excluded.begun_until > app_session_marks.begun_until THEN excluded.begun_until
            ELSE app_session_marks.begun_until END`,
    [id, accountId, begunUntil, Date.now() + longestMs],
  );
}
