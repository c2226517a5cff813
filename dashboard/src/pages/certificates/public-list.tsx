import { Link } from 'wouter';

import type { OperationId } from '../../../../client/src/index.ts';
import { useLive } from '../../api/live.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Empty, ErrorState } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { ManagementState } from '../../parts/certificate-management.tsx';
import { CertificateEnd } from '../../parts/certificates.tsx';
import { usePublicCertificates } from './public-certificates.ts';
import type { PublicCertificate } from './public-certificates.ts';

const columns: readonly Column<PublicCertificate>[] = [
  {
    id: 'name',
    head: 'Name',
    width: '26%',
    cell: (row) => (
      <>
        <Link className="main mono" to={row.to} data-row-link title={row.name}>
          {row.name}
        </Link>
        <span className="sub">{row.domain === undefined ? 'of an edge or an agent' : 'reserved domain'}</span>
        <span className="m1">
          <State row={row} />
          <span className="sub words">
            Valid until: <End row={row} />
            <br />
            Next renewal: <Renewal row={row} />
          </span>
        </span>
      </>
    ),
  },
  {
    id: 'state',
    head: 'State',
    priority: 'p1',
    cell: (row) => <State row={row} />,
  },
  {
    id: 'end',
    head: 'Valid until',
    priority: 'p1',
    cell: (row) => <End row={row} />,
  },
  { id: 'renewal', head: 'Next renewal', priority: 'p1', cell: (row) => <Renewal row={row} /> },
];

/** Orders go on by themselves. */
const live: readonly OperationId[] = ['ReservedDomainsList', 'TlsCertificatesList'];

/** Names whose certificates come from a public authority, and how far it is with each. */
export function PublicList() {
  const { rows, error, retry } = usePublicCertificates();
  useLive(live);
  return (
    <div className="panel flush">
      {error !== undefined && rows === undefined ? (
        <ErrorState title="The certificates could not be read" error={error} onRetry={retry} />
      ) : rows?.length === 0 ? (
        <Empty
          icon="certificate"
          title="No certificate of a public authority"
          action={<ButtonLink to="/reserved-names">Go to reserved names</ButtonLink>}
        >
          With GATEHOUSE_ACME=on, every public name of an edge, an agent or a reserved domain gets one, and it is
          renewed.
        </Empty>
      ) : (
        <Table
          label="Public certificates"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          hrefOf={({ to }) => to}
        />
      )}
    </div>
  );
}

function State({ row: { domain, certificate } }: { readonly row: PublicCertificate }) {
  const status = domain?.certificate_management_status ?? null;
  return <ManagementState status={status} hasCertificate={certificate !== undefined} />;
}

function End({ row: { certificate } }: { readonly row: PublicCertificate }) {
  if (certificate === undefined) return <span className="muted">No certificate yet</span>;
  return (
    <Link to={`/certificates/${certificate.id}`}>
      <CertificateEnd certificate={certificate} />
    </Link>
  );
}

/** The API tells when a certificate is renewed only for reserved domains with a policy. */
function Renewal({ row: { domain } }: { readonly row: PublicCertificate }) {
  if (domain === undefined) return <span className="muted">While an edge or agent has the name</span>;
  const at = domain.certificate_management_status?.renews_at ?? null;
  return at === null ? <span className="muted">When it is issued</span> : <Time at={at} />;
}
