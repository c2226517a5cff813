import { Link } from 'wouter';

import type { Endpoint } from '../../../../client/src/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import { equals, textHas } from '../../lib/filter.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, Rows } from '../../resource/describe.ts';

const rows: Rows<Endpoint> = {
  columns: [
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
    timeColumn('Since', ({ created_at: at }) => at, 'p1'),
  ],
  filters: [
    {
      name: 'type',
      label: 'Served by',
      options: { ephemeral: 'agents', edge: 'edges' },
      matches: ({ type }, value) => type === value,
      filter: equals('type'),
    },
    {
      name: 'proto',
      label: 'Kind',
      options: { http: 'HTTP', https: 'HTTPS', tcp: 'TCP', tls: 'TLS' },
      matches: ({ proto }, value) => proto === value,
      filter: equals('proto'),
    },
  ],
  searchFilter: textHas('public_url', 'upstream_url', 'name', 'id'),
};

export const endpoints: Listed<'EndpointsList'> = {
  list: 'EndpointsList',
  noun: ['endpoint', 'endpoints'],
  icon: 'globe',
  filterHint: 'URL, target or id',
  whenEmpty: ['No endpoints', 'An endpoint is an address that an edge or an agent serves.'],
  Rows: ({ render }) => render(rows),
};

function ServedBy({
  endpoint: { edge, tunnel_session: session, proto, pooling_enabled: isPooled },
}: {
  readonly endpoint: Endpoint;
}) {
  if (edge !== undefined) {
    return <Link to={`/${proto}-edges/${edge.id}`}>An edge</Link>;
  }
  if (session !== undefined) return <Link to={`/agents/${session.id}`}>An agent</Link>;
  return isPooled ? `Several agents, ${proto.toUpperCase()}` : 'An agent';
}
