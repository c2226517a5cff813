import type { TlsCertificate } from '../../../../client/src/index.ts';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { certificateDays, daysUntil } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CertificateEnd, certificateName, namesOf } from '../../parts/certificates.tsx';
import { FirstOf, nameColumn } from '../../resource/columns.tsx';
import type { Resource, Rows as RowsOf } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { CreateDialog } from '../../resource/form.tsx';
import { CreateButton, ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage } from '../../resource/page.tsx';
import { linesOf, stillUsed, UsesPanel } from '../../resource/uses.tsx';
import { clientAuthorities } from './client-authorities.tsx';
import { CertificateFacts, Names, useCertificateUses } from './certificate-panels.tsx';
import { PemField } from './pem-field.tsx';
import { usePublicCertificates } from './public-certificates.ts';
import { PublicList } from './public-list.tsx';

const path = '/certificates';

function sourceOf({ issued_at: issued }: TlsCertificate): string {
  return issued === null ? 'Uploaded' : 'Public authority';
}

const rows: RowsOf<TlsCertificate> = {
  columns: [
    nameColumn({
      head: 'Certificate',
      width: '32%',
      path,
      name: certificateName,
      sub: (certificate) => <span className="sub m1 mono">{namesOf(certificate).join(', ')}</span>,
    }),
    {
      id: 'names',
      head: 'For',
      width: '28%',
      priority: 'p1',
      cell: (certificate) => <FirstOf texts={namesOf(certificate)} none={<code className="main">no name</code>} />,
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
  ],
  filters: [
    {
      name: 'end',
      label: 'Ends',
      options: { soon: `within ${certificateDays} days`, ended: 'has ended', later: 'later' },
      matches: ({ not_after: end }, value) => {
        const days = daysUntil(end);
        if (value === 'ended') return days < 0;
        return value === 'soon' ? days >= 0 && days < certificateDays : days >= certificateDays;
      },
    },
  ],
  defaultSort: { column: 'end', direction: 'ascending' },
  searchText: (certificate) =>
    `${certificate.description ?? ''} ${certificate.id} ${namesOf(certificate).join(' ')} ${certificate.issuer_common_name}`,
};

/** A text in PEM, which is given once and never shown again. */
function pem(name: string, label: string, hint: string, isSecret = false) {
  return field<TlsCertificate, string>({
    name,
    start: '',
    form: 'create',
    isSecret,
    Input: ({ value, onChange, error }) => (
      <PemField label={label} hint={hint} value={value} onChange={onChange} error={error} />
    ),
  });
}

const tlsCertificates: Resource<'TlsCertificatesList'> = {
  list: 'TlsCertificatesList',
  noun: ['certificate', 'certificates'],
  icon: 'certificate',
  path,
  filterHint: 'Name, issuer or id',
  whenEmpty: [
    'No certificates',
    'Upload a certificate that browsers trust. Until then, edges show one of Gatehouse’s own authority.',
  ],
  Rows: ({ render }) => render(rows),
  nameOf: certificateName,
  fields: [
    pem('certificate_pem', 'Certificate', 'The certificate and its chain in PEM, leaf first.'),
    pem('private_key_pem', 'Private key', 'In PEM, without a passphrase. It is never shown again.', true),
    description(),
    metadata(),
  ],
  errors: {
    1900: 'certificate_pem',
    1901: 'private_key_pem',
    1902: 'private_key_pem',
    1903: 'private_key_pem',
    1916: 'description',
    1917: 'metadata',
    1919: 'certificate_pem',
    1922: 'certificate_pem',
    1923: 'private_key_pem',
    1924: 'certificate_pem',
    1926: 'certificate_pem',
  },
  create: {
    title: 'Upload a certificate',
    act: 'Upload certificate',
    missing: ({ certificate_pem: chain, private_key_pem: key }) =>
      chain === '' ? 'Give the certificate to go on' : key === '' ? 'Give the private key to go on' : undefined,
    said: (certificate) => `Uploaded the certificate ${certificateName(certificate)}.`,
  },
  edit: {
    intro: 'The certificate itself cannot be changed. Upload the new one: it takes over where it ends later.',
  },
  badge: (certificate) =>
    daysUntil(certificate.not_after) < 30 ? <CertificateEnd certificate={certificate} /> : undefined,
  Body: ({ document }) => (
    <>
      <div className="cols">
        <Names certificate={document} />
        <CertificateFacts certificate={document} />
      </div>
      <UsesPanel
        title="Shown by"
        note="the names that get it now"
        uses={useCertificateUses(document.id)}
        icon="globe"
        none="No edge shows it, and no reserved name asks for it"
      >
        It is shown as soon as an edge has a hostport with one of its names.
      </UsesPanel>
    </>
  ),
  Removal: ({ document, render }) => {
    const uses = useCertificateUses(document.id);
    return render({
      lost: 'Its private key is gone with it. Names that show it get the next best certificate, or one of Gatehouse’s own authority, which browsers do not trust. This cannot be undone.',
      uses: linesOf(
        uses.map((use) => ({
          ...use,
          tone: 'warn',
          end: use.isHeld ? 'asks for it: take it out there first' : use.end,
        })),
      ),
      mustType: uses.length > 0,
      blocked: stillUsed(uses.filter(({ isHeld }) => isHeld).length),
    });
  },
};

export function Page({ id }: PageProps) {
  if (id === undefined) return <Lists />;
  return id.startsWith('ca_') ? (
    <ResourcePage key={id} resource={clientAuthorities} id={id} />
  ) : (
    <ResourcePage key={id} resource={tlsCertificates} id={id} />
  );
}

function Lists() {
  const [params] = useUrlState();
  const mayWrite = useMayWrite();
  const issued = usePublicCertificates().rows;
  const isOfVisitors = params.get('kind') === 'client';
  const add = mayWrite ? <CreateButton>Add authority</CreateButton> : undefined;
  const upload = mayWrite ? <CreateButton>Upload certificate</CreateButton> : undefined;
  return (
    <>
      <ListTabs
        title="Certificates"
        lead="The gateway shows the best valid one for each name. A name without one gets a certificate of Gatehouse’s own authority."
        action={isOfVisitors ? 'Add authority' : 'Upload certificate'}
        what="certificates"
        label="Kinds of certificates"
        path={path}
        open={params.get('kind') ?? undefined}
        tabs={[
          { text: 'All', rows: <Rows listed={tlsCertificates} action={upload} /> },
          { value: 'public', text: 'Public authority', count: issued?.length, rows: <PublicList /> },
          {
            value: 'client',
            text: 'Authorities of visitors',
            list: 'CertificateAuthoritiesList',
            rows: <Rows listed={clientAuthorities} action={add} />,
          },
        ]}
      />
      {params.has('create') && mayWrite && !isOfVisitors ? <CreateDialog resource={tlsCertificates} /> : null}
      {params.has('create') && mayWrite && isOfVisitors ? <CreateDialog resource={clientAuthorities} /> : null}
    </>
  );
}
