import type { TextFields } from '../../api/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

export const actions = ['allow', 'deny'] as const;
export type Action = (typeof actions)[number];

export interface IpPolicyRule extends Stored, TextFields {
  /** Canonical text. */
  readonly cidr: string;
  readonly ip_policy_id: string;
  readonly action: Action;
}

export const migrations: readonly Migration[] = [
  {
    name: '0004 ip policy rules',
    sql: tableSql(
      'ip_policy_rules',
      `ip_policy_id TEXT NOT NULL REFERENCES ip_policies (id) ON DELETE CASCADE,
       cidr TEXT NOT NULL,
       action TEXT NOT NULL,
       UNIQUE (ip_policy_id, cidr)`,
    ),
  },
];

export const ipPolicyRules = new Table<IpPolicyRule>({
  name: 'ip_policy_rules',
  kind: 'ip_policy_rule',
  prefix: 'ipr',
  columns: {
    ip_policy_id: ({ ip_policy_id }) => ip_policy_id,
    cidr: ({ cidr }) => cidr,
    action: ({ action }) => action,
  },
});
