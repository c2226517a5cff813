import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';

export interface StaticBackend extends Stored, TextFields {
  /** `host:port`, as it was given. */
  readonly address: string;
  readonly tls: { readonly enabled: boolean };
}

export const migrations: readonly Migration[] = [
  { name: '0006 static backends', sql: `${tableSql('static_backends')} ${referencesSql('static_backends')}` },
];

export const staticBackends = new Table<StaticBackend>({
  name: 'static_backends',
  kind: 'static_backend',
  prefix: 'bkdsc',
});
