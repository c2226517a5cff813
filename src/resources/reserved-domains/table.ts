import type { TextFields } from '../../api/body/text-fields.ts';
import type { Queries } from '../../store/database.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { parentOf } from '../hostname-holders.ts';
import type { HostnameHolder } from '../hostname-holders.ts';

export interface ManagementPolicy {
  readonly authority: 'letsencrypt';
  readonly private_key_type: 'ecdsa' | 'rsa';
}

export interface ReservedDomain extends Stored, TextFields {
  /** Lower case; may start with `*.`. */
  readonly domain: string;
  /** As it was given; nothing depends on it. */
  readonly region: string;
  readonly certificate_id?: string;
  /** A public authority issues the certificate, which `certificate_id` then names. */
  readonly certificate_management_policy?: ManagementPolicy;
}

export const migrations: readonly Migration[] = [
  {
    name: 'reserved-domains 0001',
    sql: `
      ${tableSql('reserved_domains', 'hostname TEXT NOT NULL UNIQUE, parent TEXT NOT NULL')}
      CREATE INDEX reserved_domains_by_parent ON reserved_domains (parent);
    `,
  },
];

export const reservedDomains = new Table<ReservedDomain>({
  name: 'reserved_domains',
  kind: 'reserved_domain',
  prefix: 'rd',
  columns: { hostname: ({ domain }) => domain, parent: ({ domain }) => parentOf(domain) },
});

export const hostnameHolder: HostnameHolder = {
  table: 'reserved_domains',
  id: 'id',
  accountId: 'account_id',
  reserves: true,
};

/** The id of the account's domain of exactly this name. */
export async function findDomain(queries: Queries, accountId: string, hostname: string): Promise<string | undefined> {
  const sql = 'SELECT id FROM reserved_domains WHERE account_id = $1 AND hostname = $2';
  const [row] = await queries.all(sql, [accountId, hostname]);
  return row && String(row[0]);
}
