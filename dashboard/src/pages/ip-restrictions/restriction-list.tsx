import { useMemo } from 'react';
import { Link } from 'wouter';

import type { IpPolicy, IpRestriction } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListPage } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Badge } from '../../components/verdict.tsx';
import { equals, textHas } from '../../lib/filter.ts';
import { nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { useWarnings } from '../../api/warnings.ts';
import { CreateRestriction } from './create-restriction.tsx';
import { RestrictionState } from './restriction-state.tsx';
import { addressesOf } from './restriction-words.ts';
import { sourcesOf } from './standing.ts';

const filters: readonly ChoiceFilter<IpRestriction>[] = [
  {
    name: 'type',
    label: 'Guards',
    options: [
      ['dashboard', 'dashboard'],
      ['api', 'api'],
      ['agent', 'agent'],
      ['endpoints', 'endpoints'],
    ],
    matches: ({ type }, value) => type === value,
    filter: equals('type'),
  },
  {
    name: 'state',
    label: 'State',
    options: [
      ['enforced', 'enforced'],
      ['warns', 'warns only'],
    ],
    matches: ({ enforced }, value) => enforced === (value === 'enforced'),
    filter: (value) => `obj.enforced == ${value === 'enforced'}`,
  },
];

export function RestrictionList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite('admins');
  const { data: policies } = useList('IpPoliciesList');
  const columns = useMemo(() => columnsOf(policies ?? []), [policies]);
  const create = (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      Create restriction
    </Button>
  );
  return (
    <>
      <ListPage
        title="IP restrictions"
        lead="Who gets in, by address: to the dashboard, the API, for agents and to edges. A new one only warns, until you enforce it."
        action={mayWrite ? create : undefined}
        above={<LookOnly what="IP restrictions" who="admins" />}
        list="IpRestrictionsList"
        noun={['restriction', 'restrictions']}
        columns={columns}
        filters={filters}
        filterHint="Description or id"
        searchFilter={searchFilter}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/ip-restrictions/${id}`}
        icon="shield"
        whenEmpty={{
          title: 'No IP restrictions',
          text: 'Everybody with a valid token may call, from any address. A restriction warns first, and shows whom it would refuse.',
          action: mayWrite ? create : undefined,
        }}
      />
      {params.has('create') && mayWrite ? <CreateRestriction onClose={() => setParams({ create: undefined })} /> : null}
    </>
  );
}

const searchFilter = textHas('description', 'id', 'type');

function columnsOf(policies: readonly IpPolicy[]): readonly Column<IpRestriction>[] {
  const names = new Map(policies.map((policy) => [policy.id, nameOf(policy)]));
  return [
    {
      id: 'name',
      head: 'Restriction',
      width: '34%',
      sortBy: (row) => nameOf(row),
      cell: (row) => (
        <>
          <Link className="main" to={`/ip-restrictions/${row.id}`} data-row-link>
            {nameOf(row)}
          </Link>
          <span className="p1 id-line">
            <Id id={row.id} muted />
          </span>
          <span className="sub m1">guards {row.type}</span>
        </>
      ),
    },
    {
      id: 'state',
      head: 'State',
      isNarrow: true,
      sortBy: ({ enforced }) => (enforced ? 1 : 0),
      cell: ({ enforced }) => <RestrictionState isEnforced={enforced} />,
    },
    {
      id: 'type',
      head: 'Guards',
      priority: 'p1',
      isNarrow: true,
      sortBy: ({ type }) => type,
      cell: ({ type }) => <Badge>{type}</Badge>,
    },
    {
      id: 'would-refuse',
      head: 'Would refuse, last day',
      priority: 'p1',
      cell: (row) => <WouldRefuse restriction={row} />,
    },
    {
      id: 'policies',
      head: 'Policies',
      priority: 'p3',
      width: '20%',
      cell: ({ ip_policies: refs }) => (
        <span className="sub">{refs.map(({ id }) => names.get(id) ?? id).join(', ')}</span>
      ),
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

/** Only a restriction that warns counts whom it would refuse. */
function WouldRefuse({ restriction: { id, enforced } }: { readonly restriction: IpRestriction }) {
  const { data } = useWarnings(id, 'day', !enforced);
  if (enforced) return <span className="muted">It refuses now</span>;
  if (data === undefined) return null;
  const undecided = sourcesOf(data).filter(({ state }) => state === 'undecided').length;
  return undecided === 0 ? <span className="muted">Nobody undecided</span> : addressesOf(undecided);
}
