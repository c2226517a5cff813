import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { TlsCertificate } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListRows } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { PageHead, Tabs } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column, Sort } from '../../components/table.tsx';
import { certificateDays, daysUntil } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CertificateEnd, certificateName, namesOf } from '../../parts/certificates.tsx';
import { usePublicCertificates } from './public-certificates.ts';
import { PublicList } from './public-list.tsx';
import { UploadCertificate } from './upload-certificate.tsx';

const endsFirst: Sort = { column: 'end', direction: 'ascending' };

const columns: readonly Column<TlsCertificate>[] = [
  {
    id: 'name',
    head: 'Certificate',
    width: '32%',
    sortBy: (certificate) => certificateName(certificate).toLowerCase(),
    cell: (certificate) => (
      <>
        <Link className="main" to={`/certificates/${certificate.id}`} data-row-link>
          {certificateName(certificate)}
        </Link>
        <span className="sub m1 mono">{namesOf(certificate).join(', ')}</span>
        <span className="p1 id-line">
          <Id id={certificate.id} muted />
        </span>
      </>
    ),
  },
  {
    id: 'names',
    head: 'For',
    width: '28%',
    priority: 'p1',
    cell: (certificate) => <Names names={namesOf(certificate)} />,
  },
  {
    id: 'end',
    head: 'Valid until',
    sortBy: ({ not_after: end }) => Date.parse(end),
    cell: (certificate) => <CertificateEnd certificate={certificate} />,
  },
  {
    id: 'issuer',
    head: 'Issuer',
    width: '16%',
    priority: 'p2',
    sortBy: ({ issuer_common_name: issuer }) => issuer.toLowerCase(),
    cell: ({ issuer_common_name: issuer }) => <span className="main soft">{issuer === '' ? 'Unnamed' : issuer}</span>,
  },
  {
    id: 'source',
    head: 'Source',
    priority: 'p2',
    sortBy: sourceOf,
    cell: sourceOf,
  },
  {
    id: 'key',
    head: 'Key',
    priority: 'p3',
    cell: ({ private_key_type: type }) => type.toUpperCase(),
  },
];

function sourceOf({ issued_at: issued }: TlsCertificate): string {
  return issued === null ? 'Uploaded' : 'Public authority';
}

function Names({ names: [first = 'no name', ...rest] }: { readonly names: readonly string[] }) {
  return (
    <>
      <code className="main" title={[first, ...rest].join('\n')}>
        {first}
      </code>
      {rest.length === 0 ? null : <span className="sub">and {rest.length} more</span>}
    </>
  );
}

const filters: readonly ChoiceFilter<TlsCertificate>[] = [
  {
    name: 'end',
    label: 'Ends',
    options: [
      ['soon', `within ${certificateDays} days`],
      ['ended', 'has ended'],
      ['later', 'later'],
    ],
    matches: ({ not_after: end }, value) => {
      const days = daysUntil(end);
      if (value === 'ended') return days < 0;
      return value === 'soon' ? days >= 0 && days < certificateDays : days >= certificateDays;
    },
  },
];

export function CertificateList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const upload = (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      Upload certificate
    </Button>
  );
  const isPublic = params.get('kind') === 'public';
  const { rows } = usePublicCertificates();
  return (
    <>
      <PageHead
        title="Certificates"
        lead="The gateway shows the best valid one for each name. A name without one gets a certificate of Gatehouse’s own authority."
        actions={mayWrite ? upload : undefined}
      />
      <LookOnly what="certificates" />
      <Tabs
        label="Kinds of certificates"
        tabs={[
          { to: '/certificates', text: 'All', isOpen: !isPublic },
          { to: '/certificates?kind=public', text: 'Public authority', count: rows?.length, isOpen: isPublic },
        ]}
      />
      {isPublic ? <PublicList /> : <AllCertificates upload={mayWrite ? upload : undefined} />}
      {params.has('create') && mayWrite ? <UploadCertificate onClose={() => setParams({ create: undefined })} /> : null}
    </>
  );
}

function AllCertificates({ upload }: { readonly upload: ReactNode }) {
  return (
    <ListRows
      list="TlsCertificatesList"
      noun={['certificate', 'certificates']}
      columns={columns}
      filters={filters}
      filterHint="Name, issuer or id"
      searchText={textOf}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/certificates/${id}`}
      defaultSort={endsFirst}
      icon="certificate"
      whenEmpty={{
        title: 'No certificates',
        text: 'Upload a certificate that browsers trust. Until then, edges show one of Gatehouse’s own authority.',
        action: upload,
      }}
    />
  );
}

const textOf = (certificate: TlsCertificate): string =>
  `${certificate.description ?? ''} ${certificate.id} ${namesOf(certificate).join(' ')} ${certificate.issuer_common_name}`;
