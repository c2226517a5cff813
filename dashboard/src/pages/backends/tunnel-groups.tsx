import { Link } from 'wouter';

import type { TunnelGroupBackend } from '../../../../client/src/index.ts';
import type { Column } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { labelsText } from '../../parts/backends.ts';
import type { Resource } from '../../resource/describe.ts';
import { description, metadata, pairs } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { backendParts, BackendRows, nameWith } from './backend-parts.tsx';

const labelsOf = ({ labels }: TunnelGroupBackend): string => labelsText(labels);
const search = {
  searchText: (row: TunnelGroupBackend) => `${row.description ?? ''} ${labelsOf(row)} ${row.id}`,
};

const columns: readonly Column<TunnelGroupBackend>[] = [
  {
    id: 'labels',
    head: 'Labels',
    width: '26%',
    priority: 'p1',
    cell: (row) => <code className="main">{labelsOf(row)}</code>,
  },
  {
    id: 'tunnels',
    head: 'Tunnels online',
    sortBy: ({ tunnels }) => tunnels.length,
    cell: ({ tunnels }) =>
      tunnels.length === 0 ? <Verdict tone="off">None</Verdict> : <Verdict tone="allow">{tunnels.length}</Verdict>,
  },
];

export const tunnelGroups: Resource<'TunnelGroupBackendsList'> = {
  ...backendParts,
  list: 'TunnelGroupBackendsList',
  listPath: '/backends?kind=tunnel_group',
  noun: ['tunnel group', 'tunnel groups'],
  icon: 'agent',
  filterHint: 'Description, label or id',
  whenEmpty: ['No tunnel groups', 'A tunnel group sends traffic to all agents whose tunnels have its labels.'],
  Rows: ({ render }) => (
    <BackendRows head="Tunnel group" target={labelsOf} columns={columns} search={search} render={render} />
  ),
  nameOf: (row) => nameWith(row.description, labelsOf(row)),
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
    ['Labels', <code key="labels">{labelsOf(row)}</code>],
    [
      'Tunnels online',
      row.tunnels.length === 0 ? (
        <Verdict key="none" tone="off">
          None
        </Verdict>
      ) : (
        <Link key="some" to={`/agents?tab=tunnels&q=${encodeURIComponent(labelsOf(row))}`}>
          {row.tunnels.length}
        </Link>
      ),
    ],
    ...standardFacts(row),
  ],
};
