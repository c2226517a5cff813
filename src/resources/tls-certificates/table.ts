import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';
import type { PrivateKeyType } from '../../lib/certificate-facts.ts';

export interface TlsCertificate extends Stored, TextFields {
  /** As it was given. */
  readonly certificate_pem: string;
  readonly subject_common_name: string;
  readonly subject_alternative_names: { readonly dns_names: readonly string[]; readonly ips: readonly string[] };
  readonly not_before: string;
  readonly not_after: string;
  readonly key_usages: readonly string[];
  readonly extended_key_usages: readonly string[];
  readonly private_key_type: PrivateKeyType;
  readonly issuer_common_name: string;
  readonly serial_number: string;
  readonly subject_organization: string;
  readonly subject_organizational_unit: string;
  readonly subject_locality: string;
  readonly subject_province: string;
  readonly subject_country: string;
  /** RFC 3339; absent for one that was uploaded. */
  readonly issued_at?: string;
  /** Names that the gateway may serve it for; not shown. */
  readonly served_names: readonly string[];
}

export const migrations: readonly Migration[] = [
  { name: '0009 tls certificates', sql: tableSql('tls_certificates', 'sealed_key TEXT NOT NULL') },
  { name: 'tls-certificates 0002 references', sql: referencesSql('tls_certificates') },
];

export const tlsCertificates = new Table<TlsCertificate>({
  name: 'tls_certificates',
  kind: 'tls_certificate',
  prefix: 'cert',
  otherColumns: ['sealed_key'],
});
