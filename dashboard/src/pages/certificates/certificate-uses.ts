import { useList } from '../../api/queries.ts';
import { edgeName } from '../../parts/backends.ts';
import { certificateFor, hostOf } from '../../parts/certificates.tsx';

interface CertificateUse {
  readonly key: string;
  readonly name: string;
  readonly to: string;
  readonly text: string;
  /** The server refuses to delete what a reserved name asks for. */
  readonly isHeld: boolean;
}

/** Hostports that show the certificate, and reserved names that ask for it. */
export function useCertificateUses(id: string): readonly CertificateUse[] {
  const { data: certificates = [] } = useList('TlsCertificatesList');
  const { data: edges = [] } = useList('HttpsEdgesList');
  const { data: domains = [] } = useList('ReservedDomainsList');
  const shown = edges.flatMap((edge) =>
    (edge.hostports ?? [])
      .filter((hostport) => certificateFor(hostOf(hostport), certificates)?.id === id)
      .map((hostport) => ({
        key: hostport,
        name: hostport,
        to: `/https-edges/${edge.id}`,
        text: edgeName(edge),
        isHeld: false,
      })),
  );
  const held = domains
    .filter(({ certificate }) => certificate?.id === id)
    .map((domain) => ({
      key: domain.id,
      name: domain.domain,
      to: `/reserved-names/${domain.id}`,
      text: 'Reserved name',
      isHeld: true,
    }));
  return [...shown, ...held];
}
