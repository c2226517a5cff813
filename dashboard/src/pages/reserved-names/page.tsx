import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { ReservedAddr, ReservedDomain } from '../../../../client/src/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { textHas } from '../../lib/filter.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { RemovalProps, Resource, Rows as RowsOf, Shown } from '../../resource/describe.ts';
import { description, metadata, text } from '../../resource/fields.tsx';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage, standardFacts } from '../../resource/page.tsx';
import { linesOf, stillUsed, UsesPanel } from '../../resource/uses.tsx';
import { certificateFacts, certificateField, sendDomain } from './domain-certificate.tsx';
import { useNameUses } from './name-uses.ts';
import type { NameUse } from './name-uses.ts';

const path = '/reserved-names';

type Name = ReservedDomain | ReservedAddr;

function nameOf(row: Name): string {
  return 'addr' in row ? row.addr : row.domain;
}

/** The shared part of the descriptions of domains and addresses. */
const shared = {
  path,
  what: 'reserved names',
  nameOf,
  errors: {
    413: 'domain',
    20030: 'domain',
    20052: 'domain',
    20053: 'certificate_id',
    20054: 'certificate_id',
    20249: 'certificate_id',
  },
  deleteWords: 'Give back…',
  badge: (row: Name) => <CopyButton text={nameOf(row)} />,
  lead: ({ description: words }: Name) => words,
  Body: ({ document }: Shown<Name>) => (
    <UsesPanel title="Used by" uses={useNameUses()(nameOf(document))} icon="globe" none="Nothing uses it">
      Give it to an edge as a hostport, or to an agent.
    </UsesPanel>
  ),
  Removal: ({ document, render }: RemovalProps<Name>) => {
    const name = nameOf(document);
    const uses = useNameUses()(name);
    const isAddress = 'addr' in document;
    return render({
      title: `Give back ${name}?`,
      lost: isAddress
        ? 'The port can be given to somebody else, and you may not get the same one again.'
        : 'Another account can take the name from now on.',
      uses: linesOf(uses.map((use) => ({ ...use, tone: 'warn', end: 'uses it: take it out there first' }))),
      blocked: stillUsed(uses.length),
      act: isAddress ? 'Give back the address' : 'Give back the domain',
      said: `Gave back ${name}.`,
    });
  },
} as const;

function factsOf(row: Name) {
  return standardFacts(row, 'Reserved');
}

const domains: Resource<'ReservedDomainsList'> = {
  ...shared,
  list: 'ReservedDomainsList',
  noun: ['domain', 'domains'],
  icon: 'tag',
  filterHint: 'Domain, description or id',
  whenEmpty: [
    'No reserved domains',
    'A reserved domain belongs to this account, so that an edge or an agent can count on it.',
  ],
  Rows: ({ render }) => <NameRows head="Domain" search="domain" render={render} />,
  fields: [
    text('domain', {
      label: 'Domain',
      mono: true,
      startsFocused: true,
      placeholder: 'app.example.com',
      hint: 'A host name. Its first label may be * for any one label.',
      form: 'create',
    }),
    certificateField,
    description(),
    metadata(),
  ],
  create: { title: 'Reserve a domain', act: 'Reserve domain', said: ({ domain }) => `Reserved ${domain}.` },
  edit: { send: sendDomain },
  facts: (row) => [...certificateFacts(row), ...factsOf(row)],
};

const addresses: Resource<'ReservedAddrsList'> = {
  ...shared,
  list: 'ReservedAddrsList',
  listPath: `${path}?kind=addresses`,
  noun: ['address', 'addresses'],
  icon: 'plug',
  filterHint: 'Address, description or id',
  whenEmpty: [
    'No reserved addresses',
    'A reserved address is a port of the gateway that stays the same for TCP edges and agents.',
  ],
  Rows: ({ render }) => <NameRows head="Address" search="addr" render={render} />,
  fields: [description({ startsFocused: true }), metadata()],
  create: {
    title: 'Reserve a TCP address',
    act: 'Reserve address',
    intro: 'A free port of this installation is assigned, and stays the same.',
    said: ({ addr }) => `Reserved ${addr}.`,
  },
  facts: factsOf,
};

function NameRows<Row extends Name>({
  head,
  search,
  render,
}: {
  readonly head: string;
  readonly search: string;
  readonly render: (rows: RowsOf<Row>) => ReactNode;
}) {
  const uses = useNameUses();
  const rows = useMemo(
    (): RowsOf<Row> => ({
      columns: [
        nameColumn({
          head,
          width: '36%',
          path,
          look: 'main mono',
          name: nameOf,
          sub: ({ description: words = '' }) => <span className="sub m1">{words}</span>,
        }),
        {
          id: 'description',
          head: 'Description',
          width: '28%',
          priority: 'p1',
          sortBy: ({ description: words = '' }) => words.toLowerCase(),
          cell: ({ description: words = '' }) => <span className="main soft">{words}</span>,
        },
        {
          id: 'used',
          head: 'Used by',
          sortBy: (row) => uses(nameOf(row))[0]?.text ?? '',
          cell: (row) => <UsedBy uses={uses(nameOf(row))} />,
        },
        createdColumn(),
      ],
      searchFilter: textHas(search, 'description', 'id'),
    }),
    [head, search, uses],
  );
  return render(rows);
}

function UsedBy({ uses: [first, ...rest] }: { readonly uses: readonly NameUse[] }) {
  if (first === undefined) return <span className="muted">Nothing</span>;
  return (
    <>
      <Link to={first.to}>{first.text}</Link>
      {rest.length === 0 ? '' : ` and ${rest.length} more`}
    </>
  );
}

export function Page({ id }: PageProps) {
  const [params] = useUrlState();
  const mayWrite = useMayWrite();
  if (id !== undefined) {
    return id.startsWith('ra_') ? (
      <ResourcePage key={id} resource={addresses} id={id} />
    ) : (
      <ResourcePage key={id} resource={domains} id={id} />
    );
  }
  const isAddresses = params.get('kind') === 'addresses';
  return (
    <>
      <ListTabs
        title="Reserved names"
        lead="A name or address that stays yours, for edges and agents. No other account can use it."
        action={isAddresses ? 'Reserve an address' : 'Reserve a domain'}
        what="reserved names"
        label="Kinds of names"
        path={path}
        open={params.get('kind') ?? undefined}
        tabs={[
          { text: 'Domains', list: 'ReservedDomainsList', rows: <Rows listed={domains} /> },
          { value: 'addresses', text: 'TCP addresses', list: 'ReservedAddrsList', rows: <Rows listed={addresses} /> },
        ]}
      />
      {!params.has('create') || !mayWrite ? null : isAddresses ? (
        <CreateDialog key="address" resource={addresses} />
      ) : (
        <CreateDialog key="domain" resource={domains} />
      )}
    </>
  );
}
