import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import { countRows } from '../../store/usage.ts';
import type { Transaction } from '../../store/write/transaction.ts';
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

export const ruleRows = 'ip_policy_rule_rows';

/** Selects the set of a policy, whose id stands at the place. */
export function ruleSetSql(place: string): string {
  return `(SELECT rule_set FROM ip_policies WHERE id = ${place})`;
}

/** The rules of the policy `$1` that are in force; PostgreSQL reads them in order from here, and sorts those of the view. */
export const rulesOfPolicy = `${ruleRows} WHERE set_id = ${ruleSetSql('$1')}`;

/** True for rules that are in force: those of a set that a policy names. `replace/rule-sets.ts` says how that changes. */
const isShown = `EXISTS (SELECT 1 FROM ip_policies p WHERE p.rule_set = ${ruleRows}.set_id)`;

/** To be called after each statement that adds rows of the account, in whatever set, or removes some. */
export function countRules(writer: Pick<Transaction, 'run'>, accountId: string, change: number): Promise<void> {
  return countRows(writer, accountId, 'ip_policy_rules', change);
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
  {
    name: 'ip-policy-rules 0001 sides',
    sql: `
      ${tableSql(
        'ip_policy_rule_rows',
        `ip_policy_id TEXT NOT NULL,
         cidr TEXT NOT NULL,
         action TEXT NOT NULL,
         side INTEGER NOT NULL DEFAULT 0,
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
      SELECT id, account_id, document, ip_policy_id, cidr, action, side FROM ip_policy_rule_rows
      WHERE NOT EXISTS (
        SELECT 1 FROM ip_policy_rule_sides s WHERE s.ip_policy_id = ip_policy_rule_rows.ip_policy_id
        AND s.hidden_side IN (3, ip_policy_rule_rows.side));
    `,
  },
  {
    // A rule may be in several sets. Sets outlive their policy for a while, so that they name it without a foreign key.
    name: 'ip-policy-rules 0002 sets',
    sql: `
      ALTER TABLE ip_policies ADD COLUMN rule_set INTEGER;
      UPDATE ip_policies SET rule_set = numbered.place
      FROM (SELECT id AS policy_id, ROW_NUMBER() OVER (ORDER BY id) AS place FROM ip_policies) AS numbered
      WHERE numbered.policy_id = ip_policies.id;
      CREATE UNIQUE INDEX ip_policies_by_rule_set ON ip_policies (rule_set);
      CREATE TABLE ip_policy_rule_sets (set_id INTEGER PRIMARY KEY, delete_after TEXT NOT NULL);
      CREATE TABLE rows_in_sets (
        id TEXT NOT NULL,
        account_id TEXT NOT NULL REFERENCES accounts (id),
        document TEXT NOT NULL,
        cidr TEXT NOT NULL,
        action TEXT NOT NULL,
        set_id INTEGER NOT NULL,
        PRIMARY KEY (id, set_id),
        UNIQUE (set_id, cidr)
      );
      INSERT INTO rows_in_sets (id, account_id, document, cidr, action, set_id)
      SELECT r.id, r.account_id, r.document, r.cidr, r.action, p.rule_set
      FROM ip_policy_rules r JOIN ip_policies p ON p.id = r.ip_policy_id ORDER BY p.rule_set, r.cidr;
      DROP VIEW ip_policy_rules;
      DROP TABLE ip_policy_rule_sides;
      DROP TABLE ip_policy_rule_rows;
      ALTER TABLE rows_in_sets RENAME TO ip_policy_rule_rows;
      CREATE INDEX ip_policy_rule_rows_by_account ON ip_policy_rule_rows (account_id, id, set_id);
      CREATE VIEW ip_policy_rules AS
      SELECT r.id, r.account_id, r.document, p.id AS ip_policy_id, r.cidr, r.action, r.set_id
      FROM ip_policy_rule_rows r JOIN ip_policies p ON p.rule_set = r.set_id;
    `,
  },
];

export const ipPolicyRules = new Table<IpPolicyRule>({
  name: 'ip_policy_rules',
  rows: { table: ruleRows, isShown, copyColumn: 'set_id' },
  kind: 'ip_policy_rule',
  prefix: 'ipr',
  columns: {
    cidr: ({ cidr }) => cidr,
    action: ({ action }) => action,
  },
  otherColumns: ['set_id'],
});
