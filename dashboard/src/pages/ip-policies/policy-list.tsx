import { useMemo } from 'react';
import { Link } from 'wouter';

import type { IpPolicy } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { textHas } from '../../lib/filter.ts';
import { nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CreatePolicy } from './create-policy.tsx';
import { usePolicyUses } from './policy-uses.ts';
import type { Use } from './policy-uses.ts';

type UsesOf = (policyId: string) => readonly Use[];

const columnsOf = (usesOf: UsesOf): readonly Column<IpPolicy>[] => [
  {
    id: 'description',
    head: 'Description',
    width: '40%',
    sortBy: (policy) => nameOf(policy).toLowerCase(),
    cell: (policy) => (
      <>
        <Link className="main" to={`/ip-policies/${policy.id}`} data-row-link>
          {nameOf(policy)}
        </Link>
        <span className="sub m1">{usesLine(usesOf(policy.id))}</span>
        <span className="p1 id-line">
          <Id id={policy.id} muted />
        </span>
      </>
    ),
  },
  { id: 'uses', head: 'Used by', width: '40%', priority: 'p1', cell: ({ id }) => <Uses uses={usesOf(id)} /> },
  {
    id: 'created',
    head: 'Created',
    priority: 'p2',
    isNumber: true,
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
];

export function PolicyList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const usesOf = usePolicyUses();
  const columns = useMemo(() => columnsOf(usesOf), [usesOf]);
  const create = (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      Create policy
    </Button>
  );
  return (
    <>
      <ListPage
        title="IP policies"
        lead="A policy is a list of address ranges that may or may not come in. Restrictions, edges and keys point to it."
        action={mayWrite ? create : undefined}
        above={<LookOnly what="IP policies" />}
        list="IpPoliciesList"
        noun={['policy', 'policies']}
        columns={columns}
        filterHint="Description or id"
        searchFilter={searchFilter}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/ip-policies/${id}`}
        icon="list"
        whenEmpty={{
          title: 'No IP policies',
          text: 'A policy names the addresses that may come in. A restriction or an edge then points to it.',
          action: mayWrite ? create : undefined,
        }}
      />
      {params.has('create') && mayWrite ? <CreatePolicy onClose={() => setParams({ create: undefined })} /> : null}
    </>
  );
}

const searchFilter = textHas('description', 'id');

function Uses({ uses: [first, ...rest] }: { readonly uses: readonly Use[] }) {
  if (first === undefined) return <span className="muted">Nothing</span>;
  return (
    <>
      <span className="main">{first.name}</span>
      <span className="sub">
        {first.note}
        {rest.length === 0 ? '' : `, and ${rest.length} more`}
      </span>
    </>
  );
}

/** The same in one line, below the name on a narrow screen. */
function usesLine([first, ...rest]: readonly Use[]): string {
  if (first === undefined) return 'Used by nothing';
  return `Used by ${first.name}${rest.length === 0 ? '' : ` and ${rest.length} more`}`;
}
