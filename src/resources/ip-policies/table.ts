import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';

export interface IpPolicy extends Stored, TextFields {}

export const migrations: readonly Migration[] = [
  { name: '0003 ip policies', sql: `${tableSql('ip_policies')} ${referencesSql('ip_policies')}` },
];

export const ipPolicies = new Table<IpPolicy>({ name: 'ip_policies', kind: 'ip_policy', prefix: 'ipp' });
