import { toTimestamp } from '../../lib/ids.ts';
import { personOf } from '../../modules/sign-in.ts';
import type { LeftSession, VisitorSession } from '../../modules/sign-in.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { EndedSessionEntry } from '../../snapshot/contract.ts';
import { rowsOf } from '../../store/rows-of.ts';
import type { Row } from '../../store/database.ts';
import type { ObservationWriter, Transaction } from '../../store/write/transaction.ts';
import { boundPerson, isOverByMark, makeRoom, markEnded } from './bounds.ts';
import { appSessions, appUsers, endedKind } from './table.ts';
import type { AppSession, AppUser } from './table.ts';

/** Ends a session before its time, for good, at every gateway. */
export async function endSession(transaction: Transaction, session: AppSession): Promise<void> {
  const [[subject = ''] = []] = await transaction.all('SELECT subject FROM app_users WHERE id = $1', [session.user_id]);
  await endOne(transaction, session, String(subject));
}

async function endOne(transaction: Transaction, session: AppSession, subject: string): Promise<void> {
  // The row of the session goes first: it makes room for the one that is left.
  await appSessions.delete(transaction, session);
  await insertEnded(transaction, {
    id: session.id,
    accountId: session.account_id,
    edgeId: session.edge_id,
    provider: session.provider,
    subject,
    signedInAt: Date.parse(session.created_at) / 1000,
    endsAt: session.ends_at_ms / 1000,
  });
}

/** Ends all sessions of a user, also those that no gateway has told of yet, and forgets the user. */
export async function endUser(transaction: Transaction, user: AppUser): Promise<void> {
  const { account_id: accountId, id: userId } = user;
  const rows = await transaction.all('SELECT document FROM app_sessions WHERE user_id = $1 ORDER BY id', [userId]);
  const sessions = rows.map((row) => appSessions.parse(row));
  const begunUntil = Math.floor(Date.now() / 1000);
  for (const session of sessions) {
    // The clock of a gateway was ahead: a mark of that time would keep the person out until then.
    if (Date.parse(session.created_at) / 1000 > begunUntil) await endOne(transaction, session, user.subject);
    else await appSessions.delete(transaction, session);
  }
  await markEnded(transaction, personOfUser(user), accountId, begunUntil);
  await appUsers.delete(transaction, user);
}

function personOfUser({ account_id, provider, subject }: AppUser): string {
  return personOf(account_id, provider.url, subject);
}

export const endedSessionCompiler: Compiler = {
  kind: 'ended_session',
  affectedIds({ kind, id, before, after }) {
    if (kind === endedKind) return [id];
    // What an operator has deleted; gateways know of a session that was only used.
    if (before === null || after !== null) return [];
    if (kind === appSessions.kind) return [id];
    // Only `appUsers` writes documents of its kind.
    return kind === appUsers.kind ? [personOfUser(JSON.parse(before) as AppUser)] : [];
  },
  async load(queries, ids) {
    const one = 'SELECT id, NULL FROM ended_app_sessions';
    const several = 'SELECT id, begun_until FROM app_session_marks';
    const rows: readonly Row[] =
      ids === undefined
        ? [...(await queries.all(one)), ...(await queries.all(several))]
        : await rowsOf(
            queries,
            ids,
            (places) => `${one} WHERE id IN (${places}) UNION ALL ${several} WHERE id IN (${places})`,
          );
    return rows.map(([id, begunUntil = null]): EndedSessionEntry => ({
      kind: 'ended_session',
      id: String(id),
      ...(begunUntil === null ? {} : { begunUntil: Number(begunUntil) }),
    }));
  },
};

/** Writes that a session was used. One that has ended does not come back. */
export async function writeSeen(writer: ObservationWriter, session: VisitorSession): Promise<void> {
  const [ended] = await writer.all('SELECT id FROM ended_app_sessions WHERE id = $1', [session.id]);
  const person = personIn(session);
  if (ended !== undefined || (await isOverByMark(writer, ownersOf(session), session.signedInAt))) return;
  const known = await appSessions.load(writer, session.id);
  // People of whom nothing else is left are forgotten by it.
  if (known === undefined) await makeRoom(writer, session.accountId);
  const user = await writeUser(writer, session);
  await writeSession(writer, session, user, known);
  if (known === undefined) await boundPerson(writer, session.accountId, user.id, person);
}

function personIn({ accountId, provider, subject }: LeftSession): string {
  return personOf(accountId, provider.url, subject);
}

/** Names under which a session may have ended with others. */
function ownersOf(session: LeftSession): readonly string[] {
  return [session.accountId, session.edgeId, personIn(session)];
}

async function writeUser(writer: ObservationWriter, session: VisitorSession): Promise<AppUser> {
  const { accountId, provider, subject } = session;
  const sql = 'SELECT document FROM app_users WHERE account_id = $1 AND provider_url = $2 AND subject = $3';
  const [row] = await writer.all(sql, [accountId, provider.url, subject]);
  const known = row && appUsers.parse(row);
  const at = toTimestamp(session.seenAt * 1000);
  const loginAt = toTimestamp(session.signedInAt * 1000);
  // What comes late says who the person was.
  const isNewest = known === undefined || at >= known.last_active;
  const { email = '', name = '' } = isNewest ? session : known;
  const user: AppUser = {
    ...(known ?? appUsers.newDocument(accountId)),
    provider,
    subject,
    email,
    name,
    last_active: later(known?.last_active, at),
    last_login: later(known?.last_login, loginAt),
  };
  if (known === undefined) await appUsers.insertMany(writer, [user]);
  else {
    const update = 'UPDATE app_users SET document = $2, person = $3 WHERE id = $1';
    await writer.run(update, [user.id, JSON.stringify(user), personOfUser(user)]);
  }
  writer.record({ accountId, kind: appUsers.kind, id: user.id });
  return user;
}

async function writeSession(
  writer: ObservationWriter,
  session: VisitorSession,
  user: AppUser,
  known: AppSession | undefined,
): Promise<void> {
  const at = toTimestamp(session.seenAt * 1000);
  const document: AppSession = {
    id: session.id,
    account_id: session.accountId,
    created_at: toTimestamp(session.signedInAt * 1000),
    user_id: user.id,
    edge_id: session.edgeId,
    route_id: session.routeId === '' ? (known?.route_id ?? '') : session.routeId,
    host: session.host,
    source: session.source,
    user_agent: session.userAgent,
    groups: session.groups,
    // What comes late says how it was used before.
    ...(known !== undefined && at < known.last_active && known),
    email: user.email,
    name: user.name,
    provider: user.provider,
    last_active: later(known?.last_active, at),
    expires_at: later(known?.expires_at, toTimestamp(session.expiresAt * 1000)),
    ends_at_ms: session.endsAt * 1000,
  };
  if (known === undefined) await appSessions.insertMany(writer, [document]);
  else
    await writer.run(
      'UPDATE app_sessions SET document = $2, expires_at_ms = $3, begun_at = $4, edge_id = $5 WHERE id = $1',
      [document.id, JSON.stringify(document), Date.parse(document.expires_at), session.signedInAt, document.edge_id],
    );
  writer.record({ accountId: document.account_id, kind: appSessions.kind, id: document.id });
}

/** Writes that a session has ended before its time. */
export async function writeLeft(writer: ObservationWriter, session: LeftSession): Promise<void> {
  const { id, accountId, signedInAt } = session;
  await writer.run('DELETE FROM app_sessions WHERE id = $1', [id]);
  writer.record({ accountId, kind: appSessions.kind, id });
  if (await isOverByMark(writer, ownersOf(session), signedInAt)) return;
  await makeRoom(writer, accountId);
  await insertEnded(writer, session);
  writer.record({ accountId, kind: endedKind, id });
  const person = personIn(session);
  const [[userId = ''] = []] = await writer.all('SELECT id FROM app_users WHERE person = $1', [person]);
  await boundPerson(writer, accountId, String(userId), person);
}

async function insertEnded(writer: Pick<Transaction, 'run'>, session: LeftSession): Promise<void> {
  const { id, accountId, edgeId, signedInAt, endsAt } = session;
  await writer.run(
    `INSERT INTO ended_app_sessions (id, account_id, ends_at_ms, begun_at, edge_id, person)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
    [id, accountId, endsAt * 1000, signedInAt, edgeId, personIn(session)],
  );
}

function later(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
