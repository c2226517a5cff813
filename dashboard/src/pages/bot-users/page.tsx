import type { BotUser } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import type { PageProps } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { textHas } from '../../lib/filter.ts';
import { countOf, nameOf } from '../../lib/text.ts';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { Resource, Rows } from '../../resource/describe.ts';
import { check, text } from '../../resource/fields.tsx';
import { ResourcePages } from '../../resource/lists.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { canBeReverted, linesOf, UsesPanel } from '../../resource/uses.tsx';

const path = '/bot-users';

const rows: Rows<BotUser> = {
  columns: [
    nameColumn({ head: 'Name', width: '40%', path, name: ({ name }) => name }),
    {
      id: 'state',
      head: 'State',
      sortBy: ({ active }) => (active ? 0 : 1),
      cell: state,
    },
    { id: 'keys', head: 'API keys', priority: 'p1', isNumber: true, cell: ({ id }) => <KeyCount ownerId={id} /> },
    createdColumn(),
  ],
  filters: [
    {
      name: 'state',
      label: 'State',
      options: { active: 'active', inactive: 'inactive' },
      matches: ({ active }, value) => active === (value === 'active'),
      filter: (value) => `obj.active == ${value === 'active'}`,
    },
  ],
  searchFilter: textHas('name', 'id'),
};

const bots: Resource<'BotUsersList'> = {
  list: 'BotUsersList',
  noun: ['bot', 'bots'],
  icon: 'bot',
  path,
  who: 'admins',
  filterHint: 'Name or id',
  whenEmpty: ['No bots', 'A bot owns the keys of a program, so that they outlive the person who made them.'],
  Rows: ({ render }) => render(rows),
  nameOf: ({ name }) => name,
  fields: [
    text('name', { label: 'Name', limitBytes: 255, startsFocused: true, hint: 'What it does. Unique in the account.' }),
    check(
      'active',
      'Active. An inactive bot’s keys are refused from that moment, and work again when it is active.',
      'edit',
    ),
  ],
  errors: { 4109: 'name', 4110: 'name', 4112: 'name' },
  create: { title: 'Create a bot', act: 'Create bot' },
  badge: state,
  lead: ({ active }) => (active ? undefined : 'Its keys are refused with 403 until it is active again.'),
  facts: (bot) => standardFacts(bot),
  Body: ({ document }) => (
    <UsesPanel title="API keys" uses={useKeysOf(document.id)} icon="key" none="It has no keys">
      Create one on the page of API keys, with this bot as its owner.
    </UsesPanel>
  ),
  deletesAnyState: true,
  Removal: ({ document, render }) => {
    const keys = useKeysOf(document.id);
    const going = countOf(keys.length, 'API key goes', 'API keys go');
    return render({
      lost:
        keys.length === 0
          ? `It has no API keys. ${canBeReverted}`
          : `${going} with it, and calls with them fail from now on. This cannot be undone: their tokens cannot be made again.`,
      uses: linesOf(keys),
      mustType: keys.length > 0,
    });
  },
};

export function Page({ id }: PageProps) {
  return (
    <ResourcePages
      resource={bots}
      id={id}
      title="Bot users"
      lead="A bot owns API keys and agent credentials for programs. It is never an admin."
    />
  );
}

function state({ active }: BotUser) {
  return <Verdict tone={active ? 'allow' : 'off'}>{active ? 'Active' : 'Inactive'}</Verdict>;
}

function useKeysOf(ownerId: string) {
  const { data = [] } = useList('ApiKeysList');
  return data
    .filter(({ owner_id: owner }) => owner === ownerId)
    .map((key) => ({
      id: key.id,
      to: `/api-keys/${key.id}`,
      text: nameOf(key),
      end: key.last_used_at === undefined ? 'Never used' : <Time at={key.last_used_at} />,
    }));
}

function KeyCount({ ownerId }: { readonly ownerId: string }) {
  const { data, hasMore } = useList('ApiKeysList');
  if (data === undefined) return null;
  const count = data.filter(({ owner_id: owner }) => owner === ownerId).length;
  return `${count}${hasMore ? '+' : ''}`;
}
