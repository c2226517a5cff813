import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

/** Fields that vaults and their secrets share. */
export interface Named extends Stored, TextFields {
  readonly name: string;
  readonly updated_at: string;
  /** Ids of users or bots. */
  readonly created_by: string;
  readonly last_updated_by: string;
}

export type Vault = Named;

export interface VaultSecret extends Named {
  readonly vault_id: string;
  /** Counts values, so that each new one is a change, although no document has it. */
  readonly value_version: number;
}

export const migrations: readonly Migration[] = [
  {
    name: 'vaults 0001',
    sql: `
      ${tableSql('vaults', 'name TEXT NOT NULL, UNIQUE (account_id, name)')}
      ${tableSql('vault_secrets', 'vault_id TEXT NOT NULL REFERENCES vaults (id), name TEXT NOT NULL, sealed_value TEXT NOT NULL, UNIQUE (vault_id, name)')}
      CREATE INDEX vault_secrets_by_vault ON vault_secrets (account_id, vault_id, id);
    `,
  },
];

export const vaults = new Table<Vault>({
  name: 'vaults',
  kind: 'vault',
  prefix: 'vault',
  columns: { name: ({ name }) => name },
});

export const vaultSecrets = new Table<VaultSecret>({
  name: 'vault_secrets',
  kind: 'vault_secret',
  prefix: 'secret',
  columns: { vault_id: ({ vault_id }) => vault_id, name: ({ name }) => name },
  otherColumns: ['sealed_value'],
});
