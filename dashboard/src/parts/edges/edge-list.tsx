import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { Entry } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import type { IconName } from '../../components/icon.tsx';
import { ListPage } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { edgeName } from '../backends.ts';
import type { NamedEdge } from '../backends.ts';
import { HostportCell } from '../hostport-cell.tsx';

interface ListedEdge extends NamedEdge {
  readonly created_at: string;
}

/** The columns of edges of both kinds, with those of one kind between state and creation. */
export function edgeColumns<Edge extends ListedEdge>(
  kind: 'https' | 'tcp',
  { isServing, State }: { isServing: (edge: Edge) => boolean; State: (props: { readonly edge: Edge }) => ReactNode },
  own: readonly Column<Edge>[],
): readonly Column<Edge>[] {
  return [
    {
      id: 'name',
      head: 'Edge',
      width: '28%',
      sortBy: (edge) => edgeName(edge).toLowerCase(),
      cell: (edge) => (
        <>
          <Link className="main" to={`/${kind}-edges/${edge.id}`} data-row-link>
            {edgeName(edge)}
          </Link>
          <span className="sub m1 mono">{edge.hostports?.[0] ?? 'Nowhere yet'}</span>
          <span className="p1 id-line">
            <Id id={edge.id} muted />
          </span>
        </>
      ),
    },
    {
      id: 'hostports',
      head: 'Reached at',
      width: kind === 'https' ? '34%' : '24%',
      priority: 'p1',
      sortBy: ({ hostports }) => hostports?.[0] ?? '',
      cell: ({ hostports }) => <HostportCell hostports={hostports} />,
    },
    {
      id: 'state',
      head: 'State',
      sortBy: (edge) => (isServing(edge) ? 0 : 1),
      cell: (edge) => <State edge={edge} />,
    },
    ...own,
    {
      id: 'created',
      head: 'Created',
      priority: 'p3',
      isNumber: true,
      sortBy: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}

export function stateFilter<Edge>(isServing: (edge: Edge) => boolean): ChoiceFilter<Edge> {
  return {
    name: 'state',
    label: 'State',
    options: [
      ['serving', 'ready'],
      ['unfinished', 'not ready yet'],
    ],
    matches: (edge, value) => isServing(edge) === (value === 'serving'),
  };
}

/** The list of edges of one kind, with the form for a new one. */
export function EdgeList<Id extends 'HttpsEdgesList' | 'TcpEdgesList'>({
  kind,
  list,
  lead,
  whenEmpty,
  icon,
  columns,
  filters,
  searchText,
  idOf,
  create,
}: {
  readonly kind: 'https' | 'tcp';
  readonly list: Id;
  readonly lead: string;
  readonly whenEmpty: string;
  readonly icon: IconName;
  readonly columns: readonly Column<Entry<Id>>[];
  readonly filters: readonly ChoiceFilter<Entry<Id>>[];
  readonly searchText: (edge: Entry<Id>) => string;
  readonly idOf: (edge: Entry<Id>) => string;
  /** The form for a new edge. */
  readonly create: ReactNode;
}) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const name = kind.toUpperCase();
  const action = mayWrite ? (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      Create {name} edge
    </Button>
  ) : undefined;
  return (
    <>
      <ListPage
        title={`${name} edges`}
        lead={lead}
        action={action}
        above={<LookOnly what="edges" />}
        list={list}
        noun={['edge', 'edges']}
        columns={columns}
        filters={filters}
        filterHint="Description, hostport or id"
        searchText={searchText}
        keyOf={idOf}
        hrefOf={(edge) => `/${kind}-edges/${idOf(edge)}`}
        icon={icon}
        whenEmpty={{ title: `No ${name} edges`, text: whenEmpty, action }}
      />
      {params.has('create') && mayWrite ? create : null}
    </>
  );
}
