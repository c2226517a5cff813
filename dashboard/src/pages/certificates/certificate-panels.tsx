import { Link } from 'wouter';

import type { TlsCertificate } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { formatDate } from '../../lib/time.ts';
import { edgeName } from '../../parts/backends.ts';
import { certificateFor, hostOf, namesOf } from '../../parts/certificates.tsx';
import { standardFacts } from '../../resource/page.tsx';
import type { Use } from '../../resource/uses.tsx';

export function Names({ certificate }: { readonly certificate: TlsCertificate }) {
  const names = namesOf(certificate);
  return (
    <Panel title="It is for" note={String(names.length)} flush>
      <ul className="list">
        {names.map((name) => (
          <li key={name}>
            <code className="grow">{name}</code>
            <CopyButton text={name} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function CertificateFacts({ certificate }: { readonly certificate: TlsCertificate }) {
  const { not_before: start, not_after: end, issuer_common_name: issuer } = certificate;
  return (
    <Panel title="Facts">
      <Facts
        list
        facts={[
          [
            'Valid from',
            <time key="from" dateTime={start} title={start}>
              {formatDate(start)}
            </time>,
          ],
          [
            'Valid until',
            <time key="until" dateTime={end} title={end}>
              {formatDate(end)}
            </time>,
          ],
          ['Issuer', issuer === '' ? 'Unnamed' : issuer],
          ['Subject', certificate.subject_common_name === '' ? 'Unnamed' : certificate.subject_common_name],
          ['Key', certificate.private_key_type.toUpperCase()],
          ['Serial number', <code key="serial">{certificate.serial_number}</code>],
          ...standardFacts(certificate, certificate.issued_at === null ? 'Uploaded' : 'Issued'),
        ]}
      />
    </Panel>
  );
}

/** Hostports that show the certificate, and reserved names that ask for it. */
export function useCertificateUses(id: string): readonly (Use & { readonly isHeld: boolean })[] {
  const { data: certificates = [] } = useList('TlsCertificatesList');
  const { data: edges = [] } = useList('HttpsEdgesList');
  const { data: domains = [] } = useList('ReservedDomainsList');
  const shown = edges.flatMap((edge) =>
    (edge.hostports ?? [])
      .filter((hostport) => certificateFor(hostOf(hostport), certificates)?.id === id)
      .map((hostport) => ({
        id: hostport,
        text: <code>{hostport}</code>,
        end: <Link to={`/https-edges/${edge.id}`}>{edgeName(edge)}</Link>,
        isHeld: false,
      })),
  );
  const held = domains
    .filter(({ certificate }) => certificate?.id === id)
    .map((domain) => ({
      id: domain.id,
      text: <code>{domain.domain}</code>,
      end: <Link to={`/reserved-names/${domain.id}`}>Reserved name</Link>,
      isHeld: true,
    }));
  return [...shown, ...held];
}
