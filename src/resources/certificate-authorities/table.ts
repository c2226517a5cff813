import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';

export interface CertificateAuthority extends Stored, TextFields {
  /** Certificates alone; never changed. */
  readonly ca_pem: string;
  readonly subject_common_name: string;
  readonly not_before: string;
  readonly not_after: string;
  readonly key_usages: readonly string[];
  readonly extended_key_usages: readonly string[];
}

export const migrations: readonly Migration[] = [
  {
    name: 'certificate-authorities 0001',
    sql: `${tableSql('certificate_authorities')} ${referencesSql('certificate_authorities')}`,
  },
];

export const certificateAuthorities = new Table<CertificateAuthority>({
  name: 'certificate_authorities',
  kind: 'certificate_authority',
  prefix: 'ca',
  mayBeLong: true,
});
