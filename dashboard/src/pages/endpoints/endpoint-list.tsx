import { Link } from 'wouter';

import type { Endpoint } from '../../../../client/src/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import { equals, textHas } from '../../lib/filter.ts';
import { phasesIn } from '../../parts/policy/policy-words.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Rows } from '../../resource/describe.ts';

export const path = '/endpoints';

export const rows: Rows<Endpoint> = {
  columns: [
    {
      id: 'url',
      head: 'Reached at',
      width: '42%',
      sortBy: ({ public_url: url }) => url,
      cell: ({ id, public_url: url, name, description = '', bindings }) => (
        <>
          <span className="row">
            <Link className="main mono" to={`${path}/${id}`} title={url} data-row-link>
              {url}
            </Link>
            <CopyButton text={url} />
          </span>
          {bindings.includes('internal') ? <span className="sub m1">Internal</span> : null}
          {name === undefined && description === '' ? null : <span className="sub">{name ?? description}</span>}
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
      id: 'open',
      head: 'Open to',
      priority: 'p1',
      sortBy: ({ bindings }) => bindings.join(' '),
      cell: ({ bindings }) => (bindings.includes('internal') ? 'Endpoints of the account' : 'Visitors'),
    },
    {
      id: 'does',
      head: 'Does',
      width: '22%',
      priority: 'p2',
      cell: ({ upstream_url: url, traffic_policy: policy = '' }) =>
        url !== undefined ? (
          <code className="main">{url}</code>
        ) : policy === '' ? null : (
          <span className="main soft">{phasesIn(policy)}</span>
        ),
    },
    timeColumn('Since', ({ created_at: at }) => at, 'p1'),
  ],
  filters: [
    {
      name: 'type',
      label: 'Served by',
      options: { cloud: 'policies alone', ephemeral: 'agents', edge: 'edges' },
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
  searchFilter: textHas('public_url', 'upstream_url', 'name', 'description', 'id'),
};

/** Who answers visitors, with a link to whatever has the endpoint. */
export function ServedBy({
  endpoint: { type, edge, tunnel_session: session, proto, pooling_enabled: isPooled },
}: {
  readonly endpoint: Endpoint;
}) {
  if (type === 'cloud') return isPooled ? 'Its policy, in a pool' : 'Its policy';
  if (edge !== undefined) return <Link to={`/${proto}-edges/${edge.id}`}>An edge</Link>;
  if (session !== undefined) return <Link to={`/agents/${session.id}`}>An agent</Link>;
  return isPooled ? `Several agents, ${proto.toUpperCase()}` : 'An agent';
}
