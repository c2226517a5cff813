import { useMemo } from 'react';

import type { ReservedDomain, TlsCertificate } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import type { CallError } from '../../api/client.ts';
import { namesOf } from '../../parts/certificates.tsx';

/** A name whose certificate comes from a public authority. */
export interface PublicCertificate {
  readonly id: string;
  readonly name: string;
  readonly to: string;
  /** The one that was issued last. */
  readonly certificate: TlsCertificate | undefined;
  /** Undefined for names without a policy, of which the API shows only what was issued. */
  readonly domain: ReservedDomain | undefined;
}

/** Reserved domains with a policy, then what was issued for other names. */
export function usePublicCertificates(): {
  readonly rows: readonly PublicCertificate[] | undefined;
  readonly error: CallError | undefined;
  readonly retry: () => void;
} {
  const domains = useList('ReservedDomainsList');
  const certificates = useList('TlsCertificatesList');
  const rows = useMemo(() => {
    if (domains.data === undefined || certificates.data === undefined) return undefined;
    return rowsOf(domains.data, certificates.data);
  }, [domains.data, certificates.data]);
  const retry = (): void => {
    domains.retry();
    certificates.retry();
  };
  return { rows, error: domains.error ?? certificates.error, retry };
}

function rowsOf(
  domains: readonly ReservedDomain[],
  certificates: readonly TlsCertificate[],
): readonly PublicCertificate[] {
  const managed = domains.filter(({ certificate_management_policy: policy }) => policy !== null);
  const taken = new Set(managed.map(({ certificate }) => certificate?.id));
  return [
    ...managed.map((domain) => ({
      id: domain.id,
      name: domain.domain,
      to: `/reserved-names/${domain.id}`,
      certificate: certificates.find(({ id }) => id === domain.certificate?.id),
      domain,
    })),
    ...certificates
      .filter(({ id, issued_at: issued }) => issued !== null && !taken.has(id))
      .map((certificate) => ({
        id: certificate.id,
        name: namesOf(certificate).join(', '),
        to: `/certificates/${certificate.id}`,
        certificate,
        domain: undefined,
      })),
  ];
}
