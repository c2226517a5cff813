import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Action } from '../rule-entries.ts';
import type { Stored } from '../../store/table.ts';

export interface IpPolicyRule extends Stored, TextFields {
  /** Canonical text. */
  readonly cidr: string;
  /** The spelling that is shown, where it is not the canonical one. */
  readonly written?: string;
  readonly ip_policy_id: string;
  readonly action: Action;
}

/** The side of a rule that is shown whichever side of its policy is hidden. */
export const bothSides = 0;
/** The `hidden_side` of a policy that is deleted: its rules are only left to be swept. */
export const everySide = 3;

export const ruleRows = 'ip_policy_rule_rows';
/** Selects the side that a policy hides; to be followed by a condition that names one policy. */
export const hiddenSideSql = 'SELECT hidden_side FROM ip_policy_rule_sides';

/**
 * True for rules that are in force. Those of the hidden side of a policy are not in force yet, or no longer:
 * `rule-sides.ts` says how a policy changes sides.
 */
const isShown = `NOT EXISTS (
  SELECT 1 FROM ip_policy_rule_sides s WHERE s.ip_policy_id = ip_policy_rule_rows.ip_policy_id
  AND s.hidden_side IN (${everySide}, ip_policy_rule_rows.side))`;

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
  {
    // The rules of a large policy outlive it for a while, so that they name it without a foreign key.
    name: 'ip-policy-rules 0001 sides',
    sql: `
      ${tableSql(
        'ip_policy_rule_rows',
        `ip_policy_id TEXT NOT NULL,
         cidr TEXT NOT NULL,
         action TEXT NOT NULL,
         side INTEGER NOT NULL DEFAULT ${bothSides},
         UNIQUE (ip_policy_id, cidr, side)`,
      )}
      INSERT INTO ip_policy_rule_rows (id, account_id, document, ip_policy_id, cidr, action)
      SELECT id, account_id, document, ip_policy_id, cidr, action FROM ip_policy_rules;
      DROP TABLE ip_policy_rules;
      CREATE TABLE ip_policy_rule_sides (
        ip_policy_id TEXT PRIMARY KEY,
        hidden_side INTEGER NOT NULL,
        lease TEXT,
        lease_ends_at TEXT
      );
      CREATE VIEW ip_policy_rules AS
      SELECT id, account_id, document, ip_policy_id, cidr, action, side FROM ip_policy_rule_rows WHERE ${isShown};
    `,
  },
];

export const ipPolicyRules = new Table<IpPolicyRule>({
  name: 'ip_policy_rules',
  rows: { table: ruleRows, isShown },
  kind: 'ip_policy_rule',
  prefix: 'ipr',
  columns: {
    ip_policy_id: ({ ip_policy_id }) => ip_policy_id,
    cidr: ({ cidr }) => cidr,
    action: ({ action }) => action,
  },
});
