import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';
import type { Labels } from '../labels.ts';

export interface TunnelGroupBackend extends Stored, TextFields {
  /** A tunnel belongs to the group if it has all of them. */
  readonly labels: Labels;
}

export const migrations: readonly Migration[] = [
  {
    name: 'tunnel-group-backends 0001',
    sql: `${tableSql('tunnel_group_backends')} ${referencesSql('tunnel_group_backends')}`,
  },
];

export const tunnelGroupBackends = new Table<TunnelGroupBackend>({
  name: 'tunnel_group_backends',
  kind: 'tunnel_group_backend',
  prefix: 'bkdtg',
});
