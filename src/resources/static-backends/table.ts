import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';
import type { BalanceSettings } from './balance.ts';
import { healthMigration } from './health-table.ts';

export interface StaticBackend extends Stored, TextFields, BalanceSettings {
  /** `host:port`, as it was given; the first where there are several. */
  readonly address: string;
  readonly tls: { readonly enabled: boolean };
}

export const migrations: readonly Migration[] = [
  { name: '0006 static backends', sql: `${tableSql('static_backends')} ${referencesSql('static_backends')}` },
  healthMigration,
];

export const staticBackends = new Table<StaticBackend>({
  name: 'static_backends',
  kind: 'static_backend',
  prefix: 'bkdsc',
});
