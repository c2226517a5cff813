import type { TextFields } from '../../api/text-fields.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

export interface IpRestriction extends Stored, TextFields {
  readonly enforced: boolean;
  readonly type: RestrictionType;
  /** In the order of the request. */
  readonly ip_policy_ids: readonly string[];
}

export const migrations: readonly Migration[] = [
  {
    name: '0005 ip restrictions',
    sql: `
      ${tableSql('ip_restrictions', 'type TEXT NOT NULL, enforced INTEGER NOT NULL')}
      CREATE INDEX ip_restrictions_by_type ON ip_restrictions (account_id, type, enforced);
    `,
  },
  {
    name: '0011 ip restriction warnings',
    sql: `
      CREATE TABLE ip_restriction_warnings (
        restriction_id TEXT NOT NULL REFERENCES ip_restrictions (id) ON DELETE CASCADE,
        source TEXT NOT NULL,
        first_seen TEXT NOT NULL,
        last_seen TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (restriction_id, source)
      );
      CREATE INDEX ip_restriction_warnings_by_time ON ip_restriction_warnings (restriction_id, last_seen);
    `,
  },
];

export const ipRestrictions = new Table<IpRestriction>({
  name: 'ip_restrictions',
  kind: 'ip_restriction',
  prefix: 'ipx',
  columns: { type: ({ type }) => type, enforced: ({ enforced }) => (enforced ? 1 : 0) },
});
