import { useMemo } from 'react';
import { Link } from 'wouter';

import type { ReservedAddr, ReservedDomain } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListRows } from '../../components/list-page.tsx';
import { PageHead, Tabs } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { textHas } from '../../lib/filter.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateAddr, CreateDomain } from './create-name.tsx';
import { useNameUses } from './name-uses.ts';
import type { NameUse } from './name-uses.ts';

export function NameList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isAddresses = params.get('kind') === 'addresses';
  const { data: domains } = useList('ReservedDomainsList');
  const { data: addrs } = useList('ReservedAddrsList');
  const close = (): void => setParams({ create: undefined });
  return (
    <>
      <PageHead
        title="Reserved names"
        lead="A name or address that stays yours, for edges and agents. No other account can use it."
        actions={
          mayWrite ? (
            <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
              {isAddresses ? 'Reserve an address' : 'Reserve a domain'}
            </Button>
          ) : undefined
        }
      />
      <LookOnly what="reserved names" />
      <Tabs
        label="Kinds of names"
        tabs={[
          { to: '/reserved-names', text: 'Domains', count: domains?.length, isOpen: !isAddresses },
          { to: '/reserved-names?kind=addresses', text: 'TCP addresses', count: addrs?.length, isOpen: isAddresses },
        ]}
      />
      {isAddresses ? <Addresses /> : <Domains />}
      {params.has('create') && mayWrite ? (
        isAddresses ? (
          <CreateAddr onClose={close} />
        ) : (
          <CreateDomain onClose={close} />
        )
      ) : null}
    </>
  );
}

function Domains() {
  const uses = useNameUses();
  const columns = useMemo(() => domainColumns(uses), [uses]);
  return (
    <ListRows
      list="ReservedDomainsList"
      noun={['domain', 'domains']}
      columns={columns}
      filterHint="Domain, description or id"
      searchFilter={domainFilter}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/reserved-names/${id}`}
      icon="tag"
      whenEmpty={{
        title: 'No reserved domains',
        text: 'A reserved domain belongs to this account, so that an edge or an agent can count on it.',
      }}
    />
  );
}

function Addresses() {
  const uses = useNameUses();
  const columns = useMemo(() => addrColumns(uses), [uses]);
  return (
    <ListRows
      list="ReservedAddrsList"
      noun={['address', 'addresses']}
      columns={columns}
      filterHint="Address, description or id"
      searchFilter={addrFilter}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/reserved-names/${id}`}
      icon="plug"
      whenEmpty={{
        title: 'No reserved addresses',
        text: 'A reserved address is a port of the gateway that stays the same for TCP edges and agents.',
      }}
    />
  );
}

const domainFilter = textHas('domain', 'description', 'id');
const addrFilter = textHas('addr', 'description', 'id');

type Uses = (host: string) => readonly NameUse[];

function nameColumn<Row extends { readonly id: string; readonly description?: string }>(
  head: string,
  name: (row: Row) => string,
): Column<Row> {
  return {
    id: 'name',
    head,
    width: '36%',
    sortBy: name,
    cell: (row) => (
      <>
        <Link className="main mono" to={`/reserved-names/${row.id}`} data-row-link>
          {name(row)}
        </Link>
        <span className="sub m1">{row.description ?? ''}</span>
        <span className="p1 id-line">
          <Id id={row.id} muted />
        </span>
      </>
    ),
  };
}

function restColumns<Row extends { readonly id: string; readonly description?: string; readonly created_at: string }>(
  name: (row: Row) => string,
  uses: Uses,
): readonly Column<Row>[] {
  return [
    {
      id: 'description',
      head: 'Description',
      width: '28%',
      priority: 'p1',
      sortBy: ({ description = '' }) => description.toLowerCase(),
      cell: ({ description = '' }) => <span className="main soft">{description}</span>,
    },
    {
      id: 'used',
      head: 'Used by',
      sortBy: (row) => uses(name(row))[0]?.text ?? '',
      cell: (row) => <UsedBy uses={uses(name(row))} />,
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

function UsedBy({ uses: [first, ...rest] }: { readonly uses: readonly NameUse[] }) {
  if (first === undefined) return <span className="muted">Nothing</span>;
  return (
    <>
      <Link to={first.to}>{first.text}</Link>
      {rest.length === 0 ? '' : ` and ${rest.length} more`}
    </>
  );
}

const domainOf = ({ domain }: ReservedDomain): string => domain;
const addrOf = ({ addr }: ReservedAddr): string => addr;

function domainColumns(uses: Uses): readonly Column<ReservedDomain>[] {
  return [nameColumn('Domain', domainOf), ...restColumns(domainOf, uses)];
}

function addrColumns(uses: Uses): readonly Column<ReservedAddr>[] {
  return [nameColumn('Address', addrOf), ...restColumns(addrOf, uses)];
}
