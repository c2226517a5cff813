import { Link } from 'wouter';

import type { Endpoint } from '../../../../client/src/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import { ListRows } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { equals, textHas } from '../../lib/filter.ts';

const columns: readonly Column<Endpoint>[] = [
  {
    id: 'url',
    head: 'Reached at',
    width: '42%',
    sortBy: ({ public_url: url }) => url,
    cell: ({ public_url: url, name, description }) => (
      <>
        <span className="row">
          <code className="main" title={url}>
            {url}
          </code>
          <CopyButton text={url} />
        </span>
        {name === undefined && description === undefined ? null : <span className="sub">{name ?? description}</span>}
      </>
    ),
  },
  {
    id: 'type',
    head: 'Served by',
    sortBy: ({ type }) => type,
    cell: (endpoint) => <ServedBy endpoint={endpoint} />,
  },
  {
    id: 'upstream',
    head: 'Forwards to',
    width: '22%',
    priority: 'p2',
    cell: ({ upstream_url: url = '' }) => <code className="main">{url}</code>,
  },
  {
    id: 'since',
    head: 'Since',
    priority: 'p1',
    isNumber: true,
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
];

function ServedBy({
  endpoint: { edge, tunnel_session: session, proto, pooling_enabled: isPooled },
}: {
  readonly endpoint: Endpoint;
}) {
  if (edge !== undefined) {
    return <Link to={`/${edge.id.startsWith('edgtcp_') ? 'tcp' : 'https'}-edges/${edge.id}`}>An edge</Link>;
  }
  if (session !== undefined) return <Link to={`/agents/${session.id}`}>An agent</Link>;
  return isPooled ? `Several agents, ${proto.toUpperCase()}` : 'An agent';
}

const filters: readonly ChoiceFilter<Endpoint>[] = [
  {
    name: 'type',
    label: 'Served by',
    options: [
      ['ephemeral', 'agents'],
      ['edge', 'edges'],
    ],
    matches: ({ type }, value) => type === value,
    filter: equals('type'),
  },
  {
    name: 'proto',
    label: 'Kind',
    options: [
      ['http', 'HTTP'],
      ['https', 'HTTPS'],
      ['tcp', 'TCP'],
      ['tls', 'TLS'],
    ],
    matches: ({ proto }, value) => proto === value,
    filter: equals('proto'),
  },
];

export function EndpointList() {
  return (
    <ListRows
      list="EndpointsList"
      noun={['endpoint', 'endpoints']}
      columns={columns}
      filters={filters}
      filterHint="URL, target or id"
      searchFilter={searchFilter}
      keyOf={({ id }) => id}
      icon="globe"
      whenEmpty={{ title: 'No endpoints', text: 'An endpoint is an address that an edge or an agent serves.' }}
    />
  );
}

const searchFilter = textHas('public_url', 'upstream_url', 'name', 'id');
