import { toTimestamp } from '../../lib/ids.ts';
import type { VisitorSession } from '../../modules/sign-in.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { EndedSessionEntry } from '../../snapshot/contract.ts';
import { rowsOf } from '../../store/rows-of.ts';
import type { Store } from '../../store/store.ts';
import type { ObservationWriter, Transaction } from '../../store/write/transaction.ts';
import type { Visitors } from './service.ts';
import { appSessions, appUsers, endedKind } from './table.ts';
import type { AppSession, AppUser } from './table.ts';

type Left = Parameters<Visitors['visitorLeft']>[0];

const flushEveryMs = 200;
/** Pause after a write that failed, with the database away. */
const retryMs = 2_000;
/** Events in memory; further ones are dropped, and come again with the next use of their session. */
const pendingLimit = 20_000;
/** Sessions that one transaction writes or deletes: a flood of them makes no other write wait. */
const sessionsAtOnce = 100;

/** Collects what gateways tell of sessions, and writes it a few times a second. */
export function createVisitors(store: Store): Visitors {
  let seen = new Map<string, VisitorSession>();
  let left = new Map<string, Left>();
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();
  const schedule = (afterMs: number) => {
    timer ??= setTimeout(() => void flush().catch(() => {}), afterMs).unref();
  };
  const write = async (sweeps: boolean) => {
    const [sessions, ended] = [[...seen.values()], [...left.values()]];
    [seen, left] = [new Map(), new Map()];
    try {
      while (sessions.length > 0) {
        await store.writeUnlogged((writer) => writeSeen(writer, sessions.slice(0, sessionsAtOnce)));
        sessions.splice(0, sessionsAtOnce);
      }
      while (ended.length > 0) {
        await store.writeUnlogged((writer) => writeLeft(writer, ended.slice(0, sessionsAtOnce)));
        ended.splice(0, sessionsAtOnce);
      }
      if (sweeps) await store.writeUnlogged(sweep);
    } catch (error) {
      // What came meanwhile is newer.
      seen = new Map([...sessions.map((each) => [each.id, each] as const), ...seen]);
      left = new Map([...ended.map((each) => [each.id, each] as const), ...left]);
      schedule(retryMs);
      throw error;
    }
  };
  /** Resolves when nothing of it is under way any more, also not of an earlier one. */
  const flush = (sweeps = true) => {
    clearTimeout(timer);
    timer = undefined;
    const written = flushing.then(() => write(sweeps));
    flushing = written.catch(() => {});
    return written;
  };
  return {
    visitorSeen(session) {
      if (seen.size < pendingLimit || seen.has(session.id)) seen.set(session.id, session);
      schedule(flushEveryMs);
    },
    visitorLeft(session) {
      if (left.size < pendingLimit) left.set(session.id, session);
      schedule(flushEveryMs);
    },
    flush,
  };
}

/** Ends a session before its time, for good, at every gateway. */
export async function endSession(transaction: Transaction, session: AppSession): Promise<void> {
  await insertEnded(transaction, session.id, session.account_id, session.ends_at_ms);
  await appSessions.delete(transaction, session);
}

export async function sessionsOfUser(
  queries: Pick<Transaction, 'all'>,
  userId: string,
): Promise<readonly AppSession[]> {
  const rows = await queries.all('SELECT document FROM app_sessions WHERE user_id = $1 ORDER BY id', [userId]);
  return rows.map((row) => appSessions.parse(row));
}

export const endedSessionCompiler: Compiler = {
  kind: 'ended_session',
  affectedIds: ({ kind, id }) => (kind === endedKind || kind === appSessions.kind ? [id] : []),
  async load(queries, ids) {
    const rows =
      ids === undefined
        ? await queries.all('SELECT id FROM ended_app_sessions')
        : await rowsOf(queries, ids, (places) => `SELECT id FROM ended_app_sessions WHERE id IN (${places})`);
    return rows.map(([id]): EndedSessionEntry => ({ kind: 'ended_session', id: String(id) }));
  },
};

async function writeSeen(writer: ObservationWriter, sessions: readonly VisitorSession[]): Promise<void> {
  for (const session of sessions) {
    const [ended] = await writer.all('SELECT id FROM ended_app_sessions WHERE id = $1', [session.id]);
    if (ended !== undefined) continue;
    const user = await writeUser(writer, session);
    await writeSession(writer, session, user);
  }
}

async function writeUser(writer: ObservationWriter, session: VisitorSession): Promise<AppUser> {
  const { accountId, provider, subject } = session;
  const sql = 'SELECT document FROM app_users WHERE account_id = $1 AND provider_url = $2 AND subject = $3';
  const [row] = await writer.all(sql, [accountId, provider.url, subject]);
  const known = row && appUsers.parse(row);
  const at = toTimestamp(session.seenAt * 1000);
  const loginAt = toTimestamp(session.signedInAt * 1000);
  const user: AppUser = {
    ...(known ?? appUsers.newDocument(accountId)),
    provider,
    subject,
    email: session.email ?? '',
    name: session.name ?? '',
    last_active: later(known?.last_active, at),
    last_login: later(known?.last_login, loginAt),
  };
  if (known === undefined) await appUsers.insertMany(writer, [user]);
  else await writer.run('UPDATE app_users SET document = $2 WHERE id = $1', [user.id, JSON.stringify(user)]);
  writer.record({ accountId, kind: appUsers.kind, id: user.id });
  return user;
}

async function writeSession(writer: ObservationWriter, session: VisitorSession, user: AppUser): Promise<void> {
  const known = await appSessions.load(writer, session.id);
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
    email: user.email,
    name: user.name,
    provider: user.provider,
    last_active: later(known?.last_active, toTimestamp(session.seenAt * 1000)),
    expires_at: later(known?.expires_at, toTimestamp(session.expiresAt * 1000)),
    ends_at_ms: session.endsAt * 1000,
  };
  if (known === undefined) await appSessions.insertMany(writer, [document]);
  else
    await writer.run('UPDATE app_sessions SET document = $2, expires_at_ms = $3 WHERE id = $1', [
      document.id,
      JSON.stringify(document),
      Date.parse(document.expires_at),
    ]);
  writer.record({ accountId: document.account_id, kind: appSessions.kind, id: document.id });
}

async function writeLeft(writer: ObservationWriter, ended: readonly Left[]): Promise<void> {
  for (const { id, accountId, endsAt } of ended) {
    await insertEnded(writer, id, accountId, endsAt * 1000);
    await writer.run('DELETE FROM app_sessions WHERE id = $1', [id]);
    writer.record({ accountId, kind: appSessions.kind, id });
    writer.record({ accountId, kind: endedKind, id });
  }
}

async function insertEnded(
  writer: Pick<Transaction, 'run'>,
  id: string,
  accountId: string,
  endsAtMs: number,
): Promise<void> {
  const sql =
    'INSERT INTO ended_app_sessions (id, account_id, ends_at_ms) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING';
  await writer.run(sql, [id, accountId, endsAtMs]);
}

/** Deletes what is over by itself. */
async function sweep(writer: ObservationWriter): Promise<void> {
  const nowMs = Date.now();
  for (const [table, column, kind] of [
    ['app_sessions', 'expires_at_ms', appSessions.kind],
    ['ended_app_sessions', 'ends_at_ms', endedKind],
  ] as const) {
    const sql = `SELECT id, account_id FROM ${table} WHERE ${column} <= $1 ORDER BY ${column} LIMIT ${sessionsAtOnce}`;
    for (const [id, accountId] of await writer.all(sql, [nowMs])) {
      await writer.run(`DELETE FROM ${table} WHERE id = $1`, [String(id)]);
      writer.record({ accountId: String(accountId), kind, id: String(id) });
    }
  }
}

function later(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
