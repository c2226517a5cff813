import { hash } from 'node:crypto';

import { UserError } from '../errors/user-error.ts';
import { toTimestamp } from '../lib/ids.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Migration } from '../store/migrate.ts';
import type { Call } from './call.ts';
import { idempotencyKeyReused, invalidIdempotencyKey } from './errors.ts';

const keptMs = 24 * 3_600_000;
const keyForm = /^[\x21-\x7e]{1,255}$/;

const firstMigration: Migration = {
  name: '0012 idempotency keys',
  sql: `
    CREATE TABLE idempotency_keys (
      account_id TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      answer TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (account_id, idempotency_key)
    );
    CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
  `,
};

/** Rows of older versions belong to nobody: such a key is refused for the rest of its day, and creates nothing twice. */
const ofNobody = '';

const principalMigration: Migration = {
  name: 'idempotency 0002 principals',
  sql: `
    CREATE TABLE idempotency_keys_by_principal (
      account_id TEXT NOT NULL,
      idempotency_key TEXT NOT NULL,
      principal_id TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      answer TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (account_id, idempotency_key, principal_id)
    );
    INSERT INTO idempotency_keys_by_principal
      SELECT account_id, idempotency_key, '${ofNobody}', request_hash, answer, created_at FROM idempotency_keys;
    DROP TABLE idempotency_keys;
    ALTER TABLE idempotency_keys_by_principal RENAME TO idempotency_keys;
    CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
  `,
};

export const idempotencyMigrations: readonly Migration[] = [firstMigration, principalMigration];

/**
 * Creates a resource once for each Idempotency-Key of a principal, however often the call is repeated within a day: the
 * key is stored in the transaction that creates it. `secretFields` are shown in the first response only.
 */
export async function withIdempotencyKey<T>(
  transaction: Transaction,
  call: Call,
  path: string,
  secretFields: readonly string[],
  make: () => Promise<T>,
): Promise<T> {
  const { idempotencyKey: key, caller, body } = call;
  if (key === undefined) return make();
  if (!keyForm.test(key)) throw new UserError(invalidIdempotencyKey);
  const request = hash('sha256', JSON.stringify([path, call.params, body]));
  const oldest = toTimestamp(Date.now() - keptMs);
  const [known] = await transaction.all(
    `SELECT request_hash, answer, principal_id FROM idempotency_keys
     WHERE account_id = $1 AND idempotency_key = $2 AND principal_id IN ($3, '${ofNobody}') AND created_at > $4`,
    [caller.accountId, key, caller.principal.id, oldest],
  );
  if (known !== undefined) {
    const [usedFor, answer, usedBy] = known;
    if (usedFor !== request || usedBy === ofNobody) throw new UserError(idempotencyKeyReused);
    call.setHeader('Gatehouse-Idempotent-Replay', replayNotice(secretFields));
    // Stored by the first call, from the result of `make`.
    return JSON.parse(String(answer)) as T;
  }
  const made = await make();
  await transaction.run('DELETE FROM idempotency_keys WHERE created_at <= $1', [oldest]);
  await transaction.run(
    `INSERT INTO idempotency_keys (account_id, idempotency_key, principal_id, request_hash, answer, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [caller.accountId, key, caller.principal.id, request, withoutSecrets(made, secretFields), toTimestamp(Date.now())],
  );
  return made;
}

function replayNotice(secretFields: readonly string[]): string {
  if (secretFields.length === 0) return 'true';
  return `true; the ${secretFields.join(', ')} was shown in the first answer only and is not shown again`;
}

function withoutSecrets(answer: unknown, secretFields: readonly string[]): string {
  return JSON.stringify(answer, (name, value: unknown) => (secretFields.includes(name) ? null : value));
}
