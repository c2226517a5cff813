import { useMemo } from 'react';

import type { TcpEdge } from '../../../../client/src/index.ts';
import type { ChoiceFilter } from '../../components/list-search.ts';
import type { Column } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { useBackends } from '../../parts/backends.ts';
import type { Backends } from '../../parts/backends.ts';
import { CreateEdge } from '../../parts/edges/create-edge.tsx';
import { edgeColumns, EdgeList as List, stateFilter } from '../../parts/edges/edge-list.tsx';
import { createEdge } from './create-edge.ts';
import { EdgeState, isServing } from './edge-state.tsx';

const about = 'A TCP edge opens a port and sends its connections to a backend, for those who may come in.';

export function EdgeList() {
  const backends = useBackends();
  const columns = useMemo(() => edgeColumns('tcp', { isServing, State: EdgeState }, ownColumns(backends)), [backends]);
  return (
    <List
      kind="tcp"
      list="TcpEdgesList"
      lead={about}
      whenEmpty={about}
      icon="plug"
      columns={columns}
      filters={filters}
      searchText={textOf}
      idOf={({ id }) => id}
      create={<CreateEdge kind="tcp" create={createEdge} />}
    />
  );
}

const textOf = ({ id, description = '', hostports }: TcpEdge): string =>
  `${description} ${id} ${(hostports ?? []).join(' ')}`;

const filters: readonly ChoiceFilter<TcpEdge>[] = [
  stateFilter(isServing),
  {
    name: 'restricted',
    label: 'IP restriction',
    options: [
      ['on', 'on'],
      ['off', 'off or not set'],
    ],
    matches: ({ ip_restriction: module }, value) => (module?.enabled === true) === (value === 'on'),
  },
];

function ownColumns({ find }: Backends): readonly Column<TcpEdge>[] {
  return [
    {
      id: 'backend',
      head: 'Backend',
      width: '18%',
      priority: 'p2',
      cell: ({ backend }) =>
        backend === null ? (
          <span className="muted">None</span>
        ) : (
          <span className="main">{find(backend.backend.id).name}</span>
        ),
    },
    {
      id: 'restricted',
      head: 'IP restriction',
      priority: 'p3',
      cell: ({ ip_restriction: module }) =>
        module === null ? (
          <span className="muted">Not set</span>
        ) : module.enabled ? (
          'On'
        ) : (
          <Verdict tone="off">off</Verdict>
        ),
    },
  ];
}
