import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

export interface Credential extends Stored, TextFields {
  readonly owner_id: string;
  /** Rules of what its agents may bind, as they were given; none: everything. */
  readonly acl: readonly string[];
}

export const migrations: readonly Migration[] = [
  {
    name: 'credentials 0001',
    sql: `
      ${tableSql('credentials', 'owner_id TEXT NOT NULL REFERENCES principals (id), secret_hash TEXT NOT NULL')}
      CREATE INDEX credentials_by_owner ON credentials (owner_id);
    `,
  },
];

/** The token is the body of the credential's id and a secret; only the SHA-256 of the secret is kept. */
export const credentials = new Table<Credential>({
  name: 'credentials',
  kind: 'credential',
  prefix: 'cr',
  columns: { owner_id: ({ owner_id }) => owner_id },
  otherColumns: ['secret_hash'],
});
