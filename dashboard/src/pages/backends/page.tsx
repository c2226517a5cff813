import { useMemo, useState } from 'react';
import { Link } from 'wouter';

import type { StaticBackend, TunnelGroupBackend } from '../../../../client/src/index.ts';
import { Check, SelectField } from '../../components/field.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import { textHas } from '../../lib/filter.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { labelsText, useBackendUses } from '../../parts/backends.ts';
import type { BackendUse } from '../../parts/backends.ts';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { RemovalProps, Resource, Shown } from '../../resource/describe.ts';
import { description, field, metadata, pairs, text } from '../../resource/fields.tsx';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage, standardFacts } from '../../resource/page.tsx';
import { linesOf, UsesPanel } from '../../resource/uses.tsx';

const path = '/backends';
const groupsPath = '/backends?kind=tunnel_group';

type Backend = StaticBackend | TunnelGroupBackend;
type Uses = (id: string) => readonly BackendUse[];

const isOff = (
  <span className="row">
    <Glyph tone="off" /> off
  </span>
);

/** What both kinds have in common. */
const shared = {
  path,
  what: 'backends',
  errors: { 6503: 'description', 6504: 'metadata', 6505: 'address', 6506: 'address', 6507: 'address', 20091: 'labels' },
  create: { title: 'Create a backend', act: 'Create backend', said: () => 'Created the backend.' },
  Body: ({ document }: Shown<Backend>) => (
    <UsesPanel
      title="Used by"
      uses={useBackendUses()(document.id).map((use) => (use.isOn ? use : { ...use, end: isOff }))}
      icon="globe"
      none="No edge uses it"
    >
      Choose it as the backend of a route or a TCP edge.
    </UsesPanel>
  ),
  Removal: ({ document, render }: RemovalProps<Backend>) => {
    const uses = useBackendUses()(document.id);
    return render({
      lost:
        uses.length === 0
          ? 'No edge uses it. This cannot be undone.'
          : 'It is used below, and is not deleted while it is: give these another backend first.',
      uses: linesOf(uses.map((use) => ({ ...use, tone: use.isOn ? 'warn' : 'off' }))),
    });
  },
} as const;

function usedFilter<Row extends Backend>(uses: Uses): readonly ChoiceFilter<Row>[] {
  return [
    {
      name: 'used',
      label: 'Used',
      options: [
        ['yes', 'by an edge'],
        ['no', 'by none'],
      ],
      matches: ({ id }, value) => uses(id).length > 0 === (value === 'yes'),
    },
  ];
}

/** The columns that both kinds have at the beginning and at the end. */
function columnsOf<Row extends Backend>(
  uses: Uses,
  head: string,
  { nameOf, target }: { readonly nameOf: (row: Row) => string; readonly target: (row: Row) => string },
  own: readonly Column<Row>[],
): readonly Column<Row>[] {
  return [
    nameColumn({
      head,
      width: '30%',
      path,
      name: nameOf,
      sub: (row) => (nameOf(row) === target(row) ? null : <span className="sub m1 mono">{target(row)}</span>),
    }),
    ...own,
    {
      id: 'used',
      head: 'Used by',
      priority: 'p1',
      isNumber: true,
      sortBy: ({ id }) => uses(id).length,
      cell: ({ id }) => uses(id).length,
    },
    createdColumn(),
  ];
}

const nameWith = (given: string | undefined, other: string): string =>
  given === undefined || given === '' ? other : given;
const staticName = (row: StaticBackend): string => nameWith(row.description, row.address);
const groupName = (row: TunnelGroupBackend): string => nameWith(row.description, labelsText(row.labels));

const addressColumns: readonly Column<StaticBackend>[] = [
  {
    id: 'address',
    head: 'Address',
    width: '34%',
    priority: 'p1',
    sortBy: ({ address }) => address,
    cell: ({ address }) => <code className="main">{address}</code>,
  },
  {
    id: 'tls',
    head: 'Spoken to',
    priority: 'p2',
    sortBy: ({ tls }) => (tls.enabled ? 0 : 1),
    cell: ({ tls }) => (tls.enabled ? 'over TLS' : <span className="muted">in plain</span>),
  },
];

const statics: Resource<'StaticBackendsList'> = {
  ...shared,
  list: 'StaticBackendsList',
  noun: ['backend', 'backends'],
  icon: 'server',
  filterHint: 'Description, address or id',
  whenEmpty: [
    'No static backends',
    'A static backend is an address that the gateway connects to, such as app.internal:8080.',
  ],
  Rows: ({ render }) => {
    const uses = useBackendUses();
    const rows = useMemo(
      () => ({
        columns: columnsOf<StaticBackend>(
          uses,
          'Backend',
          { nameOf: staticName, target: ({ address }) => address },
          addressColumns,
        ),
        filters: usedFilter<StaticBackend>(uses),
        searchFilter: textHas('description', 'address', 'id'),
      }),
      [uses],
    );
    return render(rows);
  },
  nameOf: staticName,
  fields: [
    text('address', {
      label: 'Address',
      mono: true,
      placeholder: 'app.internal:8080',
      hint: 'As host:port. An IPv6 address stands in brackets.',
    }),
    field<StaticBackend, boolean>({
      name: 'tls',
      start: false,
      from: ({ tls }) => tls.enabled,
      toBody: (enabled) => ({ tls: { enabled } }),
      Input: ({ value, onChange }) => (
        <Check isOn={value} onChange={onChange}>
          It speaks TLS
        </Check>
      ),
    }),
    description(),
    metadata(),
  ],
  facts: (row) => [
    ['Address', <code key="address">{row.address}</code>],
    ['Spoken to', row.tls.enabled ? 'over TLS' : 'in plain'],
    ...standardFacts(row),
  ],
};

const labelColumns: readonly Column<TunnelGroupBackend>[] = [
  {
    id: 'labels',
    head: 'Labels',
    width: '34%',
    priority: 'p1',
    cell: ({ labels }) => <code className="main">{labelsText(labels)}</code>,
  },
  {
    id: 'tunnels',
    head: 'Tunnels online',
    sortBy: ({ tunnels }) => tunnels.length,
    cell: ({ tunnels }) =>
      tunnels.length === 0 ? <Verdict tone="off">None</Verdict> : <Verdict tone="allow">{tunnels.length}</Verdict>,
  },
];

const groups: Resource<'TunnelGroupBackendsList'> = {
  ...shared,
  list: 'TunnelGroupBackendsList',
  listPath: groupsPath,
  noun: ['tunnel group', 'tunnel groups'],
  icon: 'agent',
  filterHint: 'Description, label or id',
  whenEmpty: ['No tunnel groups', 'A tunnel group sends traffic to all agents whose tunnels have its labels.'],
  Rows: ({ render }) => {
    const uses = useBackendUses();
    const rows = useMemo(
      () => ({
        columns: columnsOf<TunnelGroupBackend>(
          uses,
          'Tunnel group',
          { nameOf: groupName, target: ({ labels }) => labelsText(labels) },
          labelColumns,
        ),
        filters: usedFilter<TunnelGroupBackend>(uses),
        searchText: ({ id, description: words = '', labels }: TunnelGroupBackend) =>
          `${words} ${labelsText(labels)} ${id}`,
      }),
      [uses],
    );
    return render(rows);
  },
  nameOf: groupName,
  fields: [
    pairs('labels', {
      label: 'Labels',
      note: 'a tunnel belongs to the group if it has all of them',
      nouns: ['Label', 'Value'],
      addWords: 'Add label',
    }),
    description(),
    metadata(),
  ],
  lead: ({ tunnels }) =>
    tunnels.length === 0 ? 'No agent has a tunnel with these labels: traffic is answered with 503.' : undefined,
  facts: (row) => [
    ['Labels', <code key="labels">{labelsText(row.labels)}</code>],
    [
      'Tunnels online',
      row.tunnels.length === 0 ? (
        <Verdict key="none" tone="off">
          None
        </Verdict>
      ) : (
        <Link key="some" to={`/agents?tab=tunnels&q=${encodeURIComponent(labelsText(row.labels))}`}>
          {row.tunnels.length}
        </Link>
      ),
    ],
    ...standardFacts(row),
  ],
};

export function Page({ id }: PageProps) {
  const [params] = useUrlState();
  const mayWrite = useMayWrite();
  if (id !== undefined) {
    return id.startsWith('bkdtg_') ? (
      <ResourcePage key={id} resource={groups} id={id} />
    ) : (
      <ResourcePage key={id} resource={statics} id={id} />
    );
  }
  const open = params.get('kind') ?? undefined;
  return (
    <>
      <ListTabs
        title="Backends"
        lead="Where edges send their traffic: an address, or the agents that have a label."
        action="Create backend"
        what="backends"
        label="Kinds of backends"
        path={path}
        open={open}
        tabs={[
          { text: 'Addresses', list: 'StaticBackendsList', rows: <Rows listed={statics} /> },
          {
            value: 'tunnel_group',
            text: 'Tunnel groups',
            list: 'TunnelGroupBackendsList',
            rows: <Rows listed={groups} />,
          },
        ]}
      />
      {params.has('create') && mayWrite ? <CreateBackend startsWith={open} /> : null}
    </>
  );
}

function CreateBackend({ startsWith }: { readonly startsWith: string | undefined }) {
  const [kind, setKind] = useState(startsWith === 'tunnel_group' ? 'tunnel_group' : 'static');
  const choice = (
    <SelectField
      label="Sends traffic to"
      value={kind}
      options={[
        ['static', 'An address'],
        ['tunnel_group', 'The agents that have a label'],
      ]}
      onChange={setKind}
    />
  );
  return kind === 'static' ? (
    <CreateDialog resource={statics} kind={choice} />
  ) : (
    <CreateDialog resource={groups} kind={choice} />
  );
}
