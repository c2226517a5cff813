import { useMemo } from 'react';
import { Link } from 'wouter';

import type { StaticBackend, TunnelGroupBackend } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListRows } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { PageHead, Tabs } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { textHas } from '../../lib/filter.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { labelsText, useBackendUses } from '../../parts/backends.ts';
import type { BackendUse } from '../../parts/backends.ts';
import { CreateBackend } from './create-backend.tsx';

type Uses = (id: string) => readonly BackendUse[];

export function BackendList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isGroups = params.get('kind') === 'tunnel_group';
  const statics = useList('StaticBackendsList');
  const groups = useList('TunnelGroupBackendsList');
  return (
    <>
      <PageHead
        title="Backends"
        lead="Where edges send their traffic: an address, or the agents that have a label."
        actions={
          mayWrite ? (
            <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
              Create backend
            </Button>
          ) : undefined
        }
      />
      <LookOnly what="backends" />
      <Tabs
        label="Kinds of backends"
        tabs={[
          { to: '/backends', text: 'Addresses', count: statics.data?.length, isOpen: !isGroups },
          { to: '/backends?kind=tunnel_group', text: 'Tunnel groups', count: groups.data?.length, isOpen: isGroups },
        ]}
      />
      {isGroups ? <Groups /> : <Statics />}
      {params.has('create') && mayWrite ? (
        <CreateBackend
          startsWith={isGroups ? 'tunnel_group' : 'static'}
          onClose={() => setParams({ create: undefined })}
        />
      ) : null}
    </>
  );
}

function Statics() {
  const uses = useBackendUses();
  const columns = useMemo(() => staticColumns(uses), [uses]);
  const filters = useMemo(() => usedFilter<StaticBackend>(uses), [uses]);
  return (
    <ListRows
      list="StaticBackendsList"
      noun={['backend', 'backends']}
      columns={columns}
      filters={filters}
      filterHint="Description, address or id"
      searchFilter={searchFilter}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/backends/${id}`}
      icon="server"
      whenEmpty={{
        title: 'No static backends',
        text: 'A static backend is an address that the gateway connects to, such as app.internal:8080.',
      }}
    />
  );
}

function Groups() {
  const uses = useBackendUses();
  const columns = useMemo(() => groupColumns(uses), [uses]);
  const filters = useMemo(() => usedFilter<TunnelGroupBackend>(uses), [uses]);
  return (
    <ListRows
      list="TunnelGroupBackendsList"
      noun={['tunnel group', 'tunnel groups']}
      columns={columns}
      filters={filters}
      filterHint="Description, label or id"
      searchText={groupText}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/backends/${id}`}
      icon="agent"
      whenEmpty={{
        title: 'No tunnel groups',
        text: 'A tunnel group sends traffic to all agents whose tunnels have its labels.',
      }}
    />
  );
}

const searchFilter = textHas('description', 'address', 'id');
const groupText = ({ id, description = '', labels }: TunnelGroupBackend): string =>
  `${description} ${labelsText(labels)} ${id}`;

function usedFilter<Row extends { readonly id: string }>(uses: Uses): readonly ChoiceFilter<Row>[] {
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

/** The columns that both kinds have at the end. */
function lastColumns<Row extends { readonly id: string; readonly created_at: string }>(
  uses: Uses,
): readonly Column<Row>[] {
  return [
    {
      id: 'used',
      head: 'Used by',
      priority: 'p1',
      isNumber: true,
      sortBy: ({ id }) => uses(id).length,
      cell: ({ id }) => uses(id).length,
    },
    {
      id: 'created',
      head: 'Created',
      priority: 'p2',
      isNumber: true,
      sortBy: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}

function NameCell({ id, name, sub }: { readonly id: string; readonly name: string; readonly sub: string }) {
  return (
    <>
      <Link className="main" to={`/backends/${id}`} data-row-link>
        {name}
      </Link>
      {name === sub ? null : <span className="sub m1 mono">{sub}</span>}
      <span className="p1 id-line">
        <Id id={id} muted />
      </span>
    </>
  );
}

const nameWith = (description: string | undefined, other: string): string =>
  description === undefined || description === '' ? other : description;

function staticColumns(uses: Uses): readonly Column<StaticBackend>[] {
  return [
    {
      id: 'name',
      head: 'Backend',
      width: '30%',
      sortBy: ({ description, address }) => nameWith(description, address).toLowerCase(),
      cell: ({ id, description, address }) => <NameCell id={id} name={nameWith(description, address)} sub={address} />,
    },
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
    ...lastColumns<StaticBackend>(uses),
  ];
}

function groupColumns(uses: Uses): readonly Column<TunnelGroupBackend>[] {
  return [
    {
      id: 'name',
      head: 'Tunnel group',
      width: '30%',
      sortBy: ({ description, labels }) => nameWith(description, labelsText(labels)).toLowerCase(),
      cell: ({ id, description, labels }) => (
        <NameCell id={id} name={nameWith(description, labelsText(labels))} sub={labelsText(labels)} />
      ),
    },
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
    ...lastColumns<TunnelGroupBackend>(uses),
  ];
}
