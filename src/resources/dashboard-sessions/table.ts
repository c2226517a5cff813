import type { Queries, Row } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Migration } from '../../store/migrate.ts';

/** A session as it is stored: an observation, because it is no part of the configuration. Times are in milliseconds. */
export interface StoredSession {
  /** SHA-256 of the secret that the page keeps. */
  readonly hash: string;
  /** SHA-256 of the secret in its cookie. */
  readonly cookieHash: string;
  readonly accountId: string;
  readonly principalId: string;
  readonly keyId: string;
  /** Hash of the token it was begun with: the session is over when that token is. */
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly seenAtMs: number;
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
];

const columns = 'hash, cookie_hash, account_id, principal_id, key_id, token_hash, expires_at_ms, seen_at_ms';
/** Expired sessions that one sign-in deletes: more than one sign-in adds, and few enough to be quick. */
const sweptAtOnce = 100;

export async function readSession(queries: Queries, hash: string): Promise<StoredSession | undefined> {
  const [row] = await queries.all(`SELECT ${columns} FROM dashboard_sessions WHERE hash = $1`, [hash]);
  return row && toSession(row);
}

/** Inserts nothing if the key is gone meanwhile. */
export async function insertSession(writer: ObservationWriter, session: StoredSession): Promise<void> {
  const { hash, cookieHash, accountId, principalId, keyId, tokenHash, expiresAtMs, seenAtMs } = session;
  await writer.run(
    `INSERT INTO dashboard_sessions (${columns})
     SELECT $1, $2, $3, $4, id, $6, $7, $8 FROM api_keys WHERE id = $5`,
    [hash, cookieHash, accountId, principalId, keyId, tokenHash, expiresAtMs, seenAtMs],
  );
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
  const [hash, cookieHash, accountId, principalId, keyId, tokenHash, expiresAtMs, seenAtMs] = row;
  return {
    hash: String(hash),
    cookieHash: String(cookieHash),
    accountId: String(accountId),
    principalId: String(principalId),
    keyId: String(keyId),
    tokenHash: String(tokenHash),
    expiresAtMs: Number(expiresAtMs),
    seenAtMs: Number(seenAtMs),
  };
}
