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
];

export const ipRestrictions = new Table<IpRestriction>({
  name: 'ip_restrictions',
  kind: 'ip_restriction',
  prefix: 'ipx',
  columns: { type: ({ type }) => type, enforced: ({ enforced }) => (enforced ? 1 : 0) },
});
