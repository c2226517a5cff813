import type { TextFields } from '../../api/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

export interface ApiKey extends Stored, TextFields {
  readonly owner_id: string;
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
];

/**
 * A token is the body of the key's id and a secret; only the SHA-256 of the secret is kept. A token that the operator
 * chose says nothing of its key, which is then found by the SHA-256 of the whole token.
 */
export const apiKeys = new Table<ApiKey>({
  name: 'api_keys',
  kind: 'api_key',
  prefix: 'ak',
  columns: { owner_id: ({ owner_id }) => owner_id },
  secretColumns: ['secret_hash', 'token_hash'],
});
