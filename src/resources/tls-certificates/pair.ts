import { quote, UserError } from '../../errors/user-error.ts';
import * as errors from './errors.ts';
import { readCertificatePair } from '../../lib/certificate-pair.ts';
import type { CertificateFault } from '../../lib/certificate-pair.ts';
import type { TlsCertificate } from './table.ts';

type Facts = Omit<TlsCertificate, 'id' | 'account_id' | 'created_at' | 'description' | 'metadata' | 'issued_at'>;

/** Reads a certificate that can be served with this key, or throws. No message repeats the key. */
export function acceptPair(certificatePem: string, privateKeyPem: string): Facts {
  const read = readCertificatePair(certificatePem, privateKeyPem);
  if ('fault' in read) throw explain(read);
  return {
    certificate_pem: certificatePem,
    subject_common_name: read.subjectCommonName,
    subject_alternative_names: {
      dns_names: read.subjectAlternativeNames.dnsNames,
      ips: read.subjectAlternativeNames.ips,
    },
    not_before: read.notBefore,
    not_after: read.notAfter,
    key_usages: read.keyUsages,
    extended_key_usages: read.extendedKeyUsages,
    private_key_type: read.privateKeyType,
    issuer_common_name: read.issuerCommonName,
    serial_number: read.serialNumber,
    subject_organization: read.subjectOrganization,
    subject_organizational_unit: read.subjectOrganizationalUnit,
    subject_locality: read.subjectLocality,
    subject_province: read.subjectProvince,
    subject_country: read.subjectCountry,
    served_names: read.names,
  };
}

function explain(fault: CertificateFault): UserError {
  switch (fault.fault) {
    case 'certificate-missing':
      return new UserError(errors.certificateMissing);
    case 'key-missing':
      return new UserError(errors.privateKeyMissing);
    case 'no-certificate':
      return new UserError(errors.noCertificateFound);
    case 'key-encrypted':
      return new UserError(errors.privateKeyEncrypted);
    case 'key-mismatch':
      return new UserError(errors.keyMismatch);
    case 'swapped':
      return new UserError(errors.privateKeyInCertificate);
    case 'not-pem':
      return new UserError(errors.notPem, { field: fault.field });
    case 'wrong-type':
      return new UserError(errors.wrongPemBlock, {
        field: fault.field,
        type: quote(fault.type),
        expected: quote(fault.expected),
      });
    case 'certificate-unreadable':
      return new UserError(errors.certificateUnreadable, { reason: fault.reason });
    case 'key-unreadable':
      return new UserError(errors.privateKeyUnreadable, { reason: fault.reason });
    case 'chain-order':
      return new UserError(errors.chainOutOfOrder, { position: fault.position });
    default:
      return new UserError(errors.pemTooLarge, { field: fault.field, bytes: fault.bytes, limit: fault.limit });
  }
}
