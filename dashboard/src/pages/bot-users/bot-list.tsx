import { Link } from 'wouter';

import type { BotUser } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListPage } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { textHas } from '../../lib/filter.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateBot } from './create-bot.tsx';

const columns: readonly Column<BotUser>[] = [
  {
    id: 'name',
    head: 'Name',
    width: '40%',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => (
      <>
        <Link className="main" to={`/bot-users/${id}`} data-row-link>
          {name}
        </Link>
        <span className="p1 id-line">
          <Id id={id} muted />
        </span>
      </>
    ),
  },
  {
    id: 'state',
    head: 'State',
    sortBy: ({ active }) => (active ? 0 : 1),
    cell: ({ active }) => <BotState isActive={active} />,
  },
  { id: 'keys', head: 'API keys', priority: 'p1', isNumber: true, cell: ({ id }) => <KeyCount ownerId={id} /> },
  {
    id: 'created',
    head: 'Created',
    priority: 'p2',
    isNumber: true,
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
];

const filters: readonly ChoiceFilter<BotUser>[] = [
  {
    name: 'state',
    label: 'State',
    options: [
      ['active', 'active'],
      ['inactive', 'inactive'],
    ],
    matches: ({ active }, value) => active === (value === 'active'),
    filter: (value) => `obj.active == ${value === 'active'}`,
  },
];

export function BotList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite('admins');
  const create = (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      Create bot
    </Button>
  );
  return (
    <>
      <ListPage
        title="Bot users"
        lead="A bot owns API keys and agent credentials for programs. It is never an admin."
        action={mayWrite ? create : undefined}
        above={<LookOnly what="bots" who="admins" />}
        list="BotUsersList"
        noun={['bot', 'bots']}
        columns={columns}
        filters={filters}
        filterHint="Name or id"
        searchFilter={searchFilter}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/bot-users/${id}`}
        icon="bot"
        whenEmpty={{
          title: 'No bots',
          text: 'A bot owns the keys of a program, so that they outlive the person who made them.',
          action: mayWrite ? create : undefined,
        }}
      />
      {params.has('create') && mayWrite ? <CreateBot onClose={() => setParams({ create: undefined })} /> : null}
    </>
  );
}

const searchFilter = textHas('name', 'id');

export function BotState({ isActive }: { readonly isActive: boolean }) {
  return <Verdict tone={isActive ? 'allow' : 'off'}>{isActive ? 'Active' : 'Inactive'}</Verdict>;
}

function KeyCount({ ownerId }: { readonly ownerId: string }) {
  const { data, hasMore } = useList('ApiKeysList');
  if (data === undefined) return null;
  const count = data.filter(({ owner_id: owner }) => owner === ownerId).length;
  return (
    <>
      {count}
      {hasMore ? '+' : ''}
    </>
  );
}
