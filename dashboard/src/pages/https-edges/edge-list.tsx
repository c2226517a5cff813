import type { HttpsEdge } from '../../../../client/src/index.ts';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { CreateEdge } from '../../parts/edges/create-edge.tsx';
import { edgeColumns, EdgeList as List, stateFilter } from '../../parts/edges/edge-list.tsx';
import { createEdge } from './create-edge.ts';
import { EdgeState, isServing } from './edge-state.tsx';

const columns = edgeColumns<HttpsEdge>('https', { isServing, State: EdgeState }, [
  {
    id: 'routes',
    head: 'Routes',
    priority: 'p2',
    isNumber: true,
    sortBy: ({ routes }) => routes.length,
    cell: ({ routes }) => routes.length,
  },
]);

const filters: readonly ChoiceFilter<HttpsEdge>[] = [
  stateFilter(isServing),
  {
    name: 'restricted',
    label: 'IP restriction',
    options: [
      ['yes', 'on at a route'],
      ['no', 'on at none'],
    ],
    matches: ({ routes }, value) =>
      routes.some(({ ip_restriction: module }) => module?.enabled === true) === (value === 'yes'),
  },
];

export function EdgeList() {
  return (
    <List
      kind="https"
      list="HttpsEdgesList"
      lead="An HTTPS edge takes requests for its names and sends each to a backend, by the path."
      whenEmpty="An HTTPS edge takes requests for its names, lets in who may, and sends them to a backend."
      icon="globe"
      columns={columns}
      filters={filters}
      searchText={textOf}
      idOf={({ id }) => id}
      create={<CreateEdge kind="https" create={createEdge} />}
    />
  );
}

const textOf = ({ id, description = '', hostports, routes }: HttpsEdge): string =>
  `${description} ${id} ${(hostports ?? []).join(' ')} ${routes.map(({ match }) => match).join(' ')}`;
