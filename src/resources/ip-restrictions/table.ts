import type { TextFields } from '../../api/body/text-fields.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { slotsMigration } from './warning-slots.ts';

export interface IpRestriction extends Stored, TextFields {
  readonly enforced: boolean;
  readonly type: RestrictionType;
  /** In the order of the request. */
  readonly ip_policy_ids: readonly string[];
  /** Since when it only warns; absent while it is enforced, and where it was stored before this was kept. */
  readonly warns_since?: string;
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
  slotsMigration,
  {
    name: 'ip-restrictions 0002 decisions',
    sql: `
      ${tableSql(
        'ip_restriction_decisions',
        `restriction_id TEXT NOT NULL REFERENCES ip_restrictions (id),
         source TEXT NOT NULL,
         UNIQUE (restriction_id, source)`,
      )}
    `,
  },
];

/** Sets whether it is enforced, and since when it only warns. */
export function withEnforced<Document extends Pick<IpRestriction, 'enforced' | 'warns_since'>>(
  restriction: Document,
  enforced: boolean,
): Document {
  if (restriction.enforced === enforced) return restriction;
  const { warns_since: _before, ...rest } = restriction;
  // Only the two fields differ.
  return { ...rest, enforced, ...(enforced ? {} : { warns_since: toTimestamp(Date.now()) }) } as Document;
}

export const ipRestrictions = new Table<IpRestriction>({
  name: 'ip_restrictions',
  kind: 'ip_restriction',
  prefix: 'ipx',
  columns: { type: ({ type }) => type, enforced: ({ enforced }) => (enforced ? 1 : 0) },
});
