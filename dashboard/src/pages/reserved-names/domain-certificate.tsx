import { Link } from 'wouter';

import type { ReservedDomain } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { SaveOptions } from '../../api/edit.ts';
import { useList } from '../../api/queries.ts';
import { SelectField } from '../../components/field.tsx';
import type { Fact } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { shortId } from '../../lib/text.ts';
import { ManagementState } from '../../parts/certificate-management.tsx';
import { certificateFor, certificateName } from '../../parts/certificates.tsx';
import { field } from '../../resource/fields.tsx';

/** In place of the id of a certificate: a public authority issues and renews it. */
const byAuthority = 'authority';

/** A certificate that the domain asks for, so that nobody deletes it, or a public authority that issues one. */
export const certificateField = field<ReservedDomain, string>({
  name: 'certificate_id',
  start: '',
  from: ({ certificate, certificate_management_policy: policy }) =>
    policy === null ? (certificate?.id ?? '') : byAuthority,
  toBody: (chosen, form) => {
    if (chosen === byAuthority) return { certificate_management_policy: {} };
    // An edit takes fields away by calls of their own.
    if (chosen === '') return form === 'create' ? {} : { certificate_id: '' };
    return { certificate_id: chosen };
  },
  Input: ({ value, onChange, error }) => {
    const { data = [] } = useList('TlsCertificatesList');
    return (
      <SelectField
        label="Certificate"
        note="optional"
        value={value}
        options={[
          ['', 'Whichever fits best'],
          [byAuthority, 'One of the public authority, renewed by itself'],
          ...data.map((each) => [each.id, certificateName(each)] as const),
        ]}
        onChange={onChange}
        hint="A certificate that is named here cannot be deleted. The gateway shows the best certificate in any case."
        error={error}
      />
    );
  },
});

/** Saves an edit. A certificate is taken away by a call of its own, after the one that checks what was seen. */
export async function sendDomain(
  id: string,
  { certificate_id: certificate, ...rest }: { readonly certificate_id?: string },
  options: SaveOptions,
  base: ReservedDomain,
): Promise<void> {
  const isTakenAway = certificate === '';
  const body = { ...rest, ...(certificate === undefined || isTakenAway ? {} : { certificate_id: certificate }) };
  await client.call('ReservedDomainsUpdate', { path: { id }, body, ...options });
  if (!isTakenAway) return;
  if (base.certificate_management_policy !== null) {
    await client.call('ReservedDomainsDeleteCertificateManagementPolicy', { path: { id } });
  }
  await client.call('ReservedDomainsDeleteCertificate', { path: { id } });
}

/** Facts about the certificate that the domain asks for, and the one that visitors see. */
export function certificateFacts(domain: ReservedDomain): readonly Fact[] {
  return [
    ...managementFacts(domain),
    ['Asks for', <AskedCertificate key="asks" domain={domain} />],
    ['Shown to visitors', <ShownCertificate key="shown" host={domain.domain} />],
  ];
}

/** Facts about a certificate that a public authority issues and renews; none without a policy. */
function managementFacts(domain: ReservedDomain): readonly Fact[] {
  const { certificate, certificate_management_policy: policy, certificate_management_status: status } = domain;
  if (policy === null) return [];
  const renewal = status?.renews_at ?? null;
  const state = <ManagementState key="state" status={status} hasCertificate={certificate !== null} />;
  return [
    ['Public certificate', state],
    ...(renewal === null ? [] : [['Next renewal', <Time key="renewal" at={renewal} />] as const]),
  ];
}

function AskedCertificate({ domain: { certificate } }: { readonly domain: ReservedDomain }) {
  const { data = [] } = useList('TlsCertificatesList');
  if (certificate === null) return <span className="muted">No certificate</span>;
  const found = data.find(({ id }) => id === certificate.id);
  return (
    <Link to={`/certificates/${certificate.id}`}>
      {found === undefined ? shortId(certificate.id) : certificateName(found)}
    </Link>
  );
}

function ShownCertificate({ host }: { readonly host: string }) {
  const { data } = useList('TlsCertificatesList');
  if (data === undefined) return null;
  const certificate = certificateFor(host, data);
  if (certificate === undefined) return 'One of Gatehouse’s own authority';
  return <Link to={`/certificates/${certificate.id}`}>{certificateName(certificate)}</Link>;
}
