import type { Queries, Row } from '../../store/database.ts';
import type { ObservationWriter, Transaction } from '../../store/write/transaction.ts';
import type { Migration } from '../../store/migrate.ts';

/** A session as it is stored: an observation, because it is no part of the configuration. Times are in milliseconds. */
export interface StoredSession {
  /** SHA-256 of the secret that the page keeps. */
  readonly hash: string;
  /** SHA-256 of the secret in its cookie. */
  readonly cookieHash: string;
  readonly accountId: string;
  readonly principalId: string;
  /** What it was begun with: the session is over when that is. */
  readonly begunWith: BegunWithToken | BegunAtProvider;
  readonly expiresAtMs: number;
  readonly seenAtMs: number;
}

interface BegunWithToken {
  readonly keyId: string;
  /** Hash of the token. */
  readonly tokenHash: string;
}

export interface BegunAtProvider {
  readonly keyId: undefined;
  readonly issuer: string;
  readonly subject: string;
  /** Sealed; undefined where the provider gave none. */
  readonly refreshToken: string | undefined;
  /** When the provider was last asked whether the login holds. */
  readonly checkedAtMs: number;
}

/** Kind under which other processes hear of a session that has ended. */
export const sessionKind = 'dashboard_session';

export const migrations: readonly Migration[] = [
  {
    name: 'dashboard-sessions 0001',
    sql: `
      CREATE TABLE dashboard_sessions (
        hash TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        principal_id TEXT NOT NULL,
        key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
        token_hash TEXT NOT NULL,
        expires_at_ms INTEGER NOT NULL,
        seen_at_ms INTEGER NOT NULL
      );
      CREATE INDEX dashboard_sessions_by_principal ON dashboard_sessions (principal_id, seen_at_ms);
      CREATE INDEX dashboard_sessions_by_key ON dashboard_sessions (key_id);
      CREATE INDEX dashboard_sessions_by_end ON dashboard_sessions (expires_at_ms);
    `,
  },
  {
    // A session from before has one secret only, and is over.
    name: 'dashboard-sessions 0002 second secret',
    sql: `
      DELETE FROM dashboard_sessions;
      ALTER TABLE dashboard_sessions ADD COLUMN cookie_hash TEXT NOT NULL DEFAULT '';
    `,
  },
  {
    // One that was begun at an identity provider has no key. SQLite lets a column be empty in a new table only.
    name: 'dashboard-sessions 0003 identity provider',
    sql: `
      CREATE TABLE new_dashboard_sessions (
        hash TEXT PRIMARY KEY,
        cookie_hash TEXT NOT NULL,
        account_id TEXT NOT NULL,
        principal_id TEXT NOT NULL,
        key_id TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
        token_hash TEXT NOT NULL,
        expires_at_ms INTEGER NOT NULL,
        seen_at_ms INTEGER NOT NULL,
        issuer TEXT,
        subject TEXT,
        refresh_token TEXT,
        checked_at_ms INTEGER
      );
      INSERT INTO new_dashboard_sessions
        (hash, cookie_hash, account_id, principal_id, key_id, token_hash, expires_at_ms, seen_at_ms)
        SELECT hash, cookie_hash, account_id, principal_id, key_id, token_hash, expires_at_ms, seen_at_ms
        FROM dashboard_sessions;
      DROP TABLE dashboard_sessions;
      ALTER TABLE new_dashboard_sessions RENAME TO dashboard_sessions;
      CREATE INDEX dashboard_sessions_by_principal ON dashboard_sessions (principal_id, seen_at_ms);
      CREATE INDEX dashboard_sessions_by_key ON dashboard_sessions (key_id);
      CREATE INDEX dashboard_sessions_by_end ON dashboard_sessions (expires_at_ms);
    `,
  },
];

const columns =
  'hash, cookie_hash, account_id, principal_id, expires_at_ms, seen_at_ms, ' +
  'key_id, token_hash, issuer, subject, refresh_token, checked_at_ms';
/** Expired sessions that one sign-in deletes: more than one sign-in adds, and few enough to be quick. */
const sweptAtOnce = 100;

export async function readSession(queries: Queries, hash: string): Promise<StoredSession | undefined> {
  const [row] = await queries.all(`SELECT ${columns} FROM dashboard_sessions WHERE hash = $1`, [hash]);
  return row && toSession(row);
}

/** Inserts nothing if the key is gone meanwhile. */
export async function insertSession(writer: ObservationWriter, session: StoredSession): Promise<void> {
  const { hash, cookieHash, accountId, principalId, begunWith, expiresAtMs, seenAtMs } = session;
  const common = [hash, cookieHash, accountId, principalId, expiresAtMs, seenAtMs];
  if (begunWith.keyId === undefined) {
    const { issuer, subject, refreshToken = null, checkedAtMs } = begunWith;
    await writer.run(
      `INSERT INTO dashboard_sessions (${columns}) VALUES ($1, $2, $3, $4, $5, $6, NULL, '', $7, $8, $9, $10)`,
      [...common, issuer, subject, refreshToken, checkedAtMs],
    );
  } else {
    await writer.run(
      `INSERT INTO dashboard_sessions (${columns})
       SELECT $1, $2, $3, $4, $5, $6, id, $8, NULL, NULL, NULL, NULL FROM api_keys WHERE id = $7`,
      [...common, begunWith.keyId, begunWith.tokenHash],
    );
  }
  await writer.run(
    `DELETE FROM dashboard_sessions WHERE hash IN (
       SELECT hash FROM dashboard_sessions WHERE expires_at_ms <= $1 LIMIT ${sweptAtOnce})`,
    [seenAtMs],
  );
}

export async function touchSession(writer: ObservationWriter, hash: string, seenAtMs: number): Promise<void> {
  const sql = 'UPDATE dashboard_sessions SET seen_at_ms = $2 WHERE hash = $1 AND seen_at_ms < $2';
  await writer.run(sql, [hash, seenAtMs]);
}

/**
 * Takes the right to ask the provider about a session, and answers the refresh token as it is now: another process may have
 * got a new one. Undefined where another process has the right, or has asked already.
 */
export async function claimCheck(
  writer: ObservationWriter,
  hash: string,
  lastMs: number,
  nowMs: number,
): Promise<string | undefined> {
  const sql = 'UPDATE dashboard_sessions SET checked_at_ms = $3 WHERE hash = $1 AND checked_at_ms = $2';
  if ((await writer.run(sql, [hash, lastMs, nowMs])) !== 1) return undefined;
  const [row] = await writer.all('SELECT refresh_token FROM dashboard_sessions WHERE hash = $1', [hash]);
  return typeof row?.[0] === 'string' ? row[0] : undefined;
}

export async function writeRefreshToken(writer: ObservationWriter, hash: string, sealed: string): Promise<void> {
  await writer.run('UPDATE dashboard_sessions SET refresh_token = $2 WHERE hash = $1', [hash, sealed]);
}

/** When a user of an identity provider was last seen. */
export async function writeUserSeen(writer: ObservationWriter, userId: string, nowMs: number): Promise<void> {
  await writer.run('UPDATE users SET seen_at_ms = $2 WHERE id = $1', [userId, nowMs]);
}

/** Hashes of a principal's sessions, but for the `kept` that were used last. */
export async function olderSessions(
  writer: ObservationWriter,
  principalId: string,
  kept: number,
): Promise<readonly string[]> {
  const rows = await writer.all(
    `SELECT hash FROM dashboard_sessions WHERE principal_id = $1
     ORDER BY seen_at_ms DESC, hash LIMIT 1000000 OFFSET $2`,
    [principalId, kept],
  );
  return rows.map(([hash]) => String(hash));
}

/** Processes forget them by the change of the principal, which the same write must make. */
export async function deleteSessionsOf(transaction: Transaction, principalId: string): Promise<void> {
  await transaction.run('DELETE FROM dashboard_sessions WHERE principal_id = $1', [principalId]);
}

/** Every process forgets them at once. */
export async function deleteSessions(
  writer: ObservationWriter,
  accountId: string,
  hashes: readonly string[],
): Promise<void> {
  for (const hash of hashes) {
    await writer.run('DELETE FROM dashboard_sessions WHERE hash = $1', [hash]);
    writer.record({ accountId, kind: sessionKind, id: hash });
  }
}

function toSession(row: Row): StoredSession {
  const [hash, cookieHash, accountId, principalId, expiresAtMs, seenAtMs, keyId, tokenHash] = row;
  const [issuer, subject, refreshToken, checkedAtMs] = row.slice(8);
  return {
    hash: String(hash),
    cookieHash: String(cookieHash),
    accountId: String(accountId),
    principalId: String(principalId),
    expiresAtMs: Number(expiresAtMs),
    seenAtMs: Number(seenAtMs),
    begunWith:
      typeof keyId === 'string'
        ? { keyId, tokenHash: String(tokenHash) }
        : {
            keyId: undefined,
            issuer: String(issuer),
            subject: String(subject),
            refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
            checkedAtMs: Number(checkedAtMs),
          },
  };
}
