import type { CertificateAuthority } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { formatDay } from '../../lib/time.ts';
import { edgeName } from '../../parts/backends.ts';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { Resource } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { canBeReverted, linesOf, stillUsed, UsesPanel } from '../../resource/uses.tsx';
import { PemField } from './pem-field.tsx';

const path = '/certificates';

function nameOf({ description: text, subject_common_name: name, id }: CertificateAuthority): string {
  return text || name || id;
}

/** The edges that ask visitors for its certificates. */
function useUses(id: string) {
  const { data: https = [] } = useList('HttpsEdgesList');
  const { data: tls = [] } = useList('TlsEdgesList');
  const edges = [
    ...https.map((edge) => ({ edge, to: `/https-edges/${edge.id}`, kind: 'HTTPS edge' })),
    ...tls.map((edge) => ({ edge, to: `/tls-edges/${edge.id}`, kind: 'TLS edge' })),
  ];
  return edges
    .filter(({ edge }) => edge.mutual_tls?.certificate_authorities.some((each) => each.id === id) === true)
    .map(({ edge, to, kind }) => ({ id: edge.id, to, text: `${kind} ${edgeName(edge)}` }));
}

export const clientAuthorities: Resource<'CertificateAuthoritiesList'> = {
  list: 'CertificateAuthoritiesList',
  listPath: '/certificates?kind=client',
  noun: ['authority of visitors', 'authorities of visitors'],
  icon: 'certificate',
  path,
  filterHint: 'Description, name or id',
  whenEmpty: [
    'No authorities of visitors',
    'With mutual TLS, an edge lets in visitors who show a certificate that such an authority has signed.',
  ],
  Rows: ({ render }) =>
    render({
      columns: [
        nameColumn({ head: 'Authority', width: '40%', path, name: nameOf }),
        {
          id: 'end',
          head: 'Valid until',
          sortBy: ({ not_after: end }) => Date.parse(end),
          cell: ({ not_after: end }) => formatDay(end),
        },
        createdColumn(),
      ],
      searchText: (row) => `${nameOf(row)} ${row.subject_common_name} ${row.id}`,
    }),
  nameOf,
  fields: [
    field<CertificateAuthority, string>({
      name: 'ca_pem',
      start: '',
      form: 'create',
      Input: ({ value, onChange, error }) => (
        <PemField
          label="Certificate"
          hint="The certificate of the authority in PEM; several may follow each other."
          value={value}
          onChange={onChange}
          error={error}
        />
      ),
    }),
    description(),
    metadata(),
  ],
  errors: { 20183: 'ca_pem' },
  create: {
    title: 'Add an authority of visitors',
    act: 'Add authority',
    missing: ({ ca_pem: pem }) => (pem === '' ? 'Give the certificate to go on' : undefined),
    said: (authority) => `Added the authority ${nameOf(authority)}.`,
  },
  edit: { intro: 'The certificate itself cannot be changed. Add the new one, and choose it at the edges.' },
  facts: (row) => [
    ['Common name', row.subject_common_name],
    ['Valid until', formatDay(row.not_after)],
    ...standardFacts(row),
  ],
  Body: ({ document }) => (
    <UsesPanel title="Used by" uses={useUses(document.id)} icon="globe" none="No edge uses it">
      Choose it in the module Mutual TLS of an HTTPS edge.
    </UsesPanel>
  ),
  Removal: ({ document, render }) => {
    const uses = useUses(document.id);
    return render({
      lost:
        uses.length === 0
          ? `No edge uses it. ${canBeReverted}`
          : 'It is in use, as you see below. Give these another one first, then delete it.',
      uses: linesOf(uses.map((use) => ({ ...use, tone: 'warn' }))),
      blocked: stillUsed(uses.length),
    });
  },
};
