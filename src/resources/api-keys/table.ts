import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

/** Limits of a key's use; one that is unset is absent, so that clients which do not know it never see it. */
export interface KeyLimits {
  /** From this second on the key is refused. */
  readonly expires_at?: string;
  /** The policies that must allow the source of a call, in the order of the request; never empty. */
  readonly ip_policy_ids?: readonly string[];
  /** The key may only read. */
  readonly read_only?: true;
}

export interface ApiKey extends Stored, TextFields, KeyLimits {
  readonly owner_id: string;
  readonly rotated_at?: string;
  /** From this second on the token before the last rotation is refused. */
  readonly previous_token_expires_at?: string;
  /** Counts rotations, so that each of them is a change, also two within one second. */
  readonly rotations?: number;
}

export const migrations: readonly Migration[] = [
  {
    name: '0002 api keys',
    sql: `
      ${tableSql(
        'api_keys',
        `owner_id TEXT NOT NULL REFERENCES principals (id),
         secret_hash TEXT NOT NULL,
         token_hash TEXT UNIQUE`,
      )}
      CREATE INDEX api_keys_by_owner ON api_keys (owner_id);
    `,
  },
  {
    name: 'api-keys 0001 rotation and last use',
    sql: `
      ALTER TABLE api_keys ADD COLUMN previous_hash TEXT;
      CREATE TABLE api_key_uses (
        account_id TEXT NOT NULL,
        key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
        last_used_at TEXT NOT NULL,
        PRIMARY KEY (account_id, key_id)
      );
      CREATE INDEX api_key_uses_by_key ON api_key_uses (key_id);
    `,
  },
];

/**
 * A token is the body of the key's id and a secret; only the SHA-256 of the secret is kept, and after a rotation that of
 * the secret before it. A token that the operator chose says nothing of its key, which is then found by the SHA-256 of
 * the whole token.
 */
export const apiKeys = new Table<ApiKey>({
  name: 'api_keys',
  kind: 'api_key',
  prefix: 'ak',
  columns: { owner_id: ({ owner_id }) => owner_id },
  otherColumns: ['secret_hash', 'token_hash'],
});
