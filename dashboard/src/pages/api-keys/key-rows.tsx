import type { ApiKey } from '../../../../client/src/index.ts';
import type { Owner } from '../../api/owners.ts';
import { Button } from '../../components/button.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import type { Column, Sort } from '../../components/table.tsx';
import { isOneOf, textHas } from '../../lib/filter.ts';
import { nameOf } from '../../lib/text.ts';
import { ownerColumn } from '../../parts/owners.tsx';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import { Expiry, isUnused, KeyBadges, LastUse } from './key-state.tsx';

export const usedLast: Sort = { column: 'used', direction: 'descending' };

const inTexts = textHas('description', 'id');

export function searchFilterOf(ownersNamed: (word: string) => readonly string[]): (word: string) => string {
  return (word) => `${inTexts(word)} || ${isOneOf('owner_id', ownersNamed(word))}`;
}

export function columnsOf(
  owner: (id: string) => Owner,
  onDelete: ((id: string) => void) | undefined,
): readonly Column<ApiKey>[] {
  return [
    nameColumn<ApiKey>({
      id: 'description',
      head: 'Description',
      width: '34%',
      path: '/api-keys',
      name: nameOf,
      badges: (key) => <KeyBadges apiKey={key} />,
      sub: (key) => <span className="sub m1">{owner(key.owner_id).name}</span>,
    }),
    ownerColumn(owner),
    {
      id: 'used',
      head: 'Last used',
      sortBy: ({ last_used_at: at }) => at ?? '',
      cell: (key) => <LastUse apiKey={key} />,
    },
    {
      id: 'expires',
      head: 'Expires',
      priority: 'p2',
      sortBy: ({ expires_at: at }) => at ?? '9999',
      cell: (key) => <Expiry apiKey={key} />,
    },
    createdColumn('p3'),
    ...(onDelete === undefined
      ? []
      : [
          {
            id: 'actions',
            head: '',
            isNarrow: true,
            cell: (key: ApiKey) => (
              <Button
                look="ghost"
                small
                icon="trash"
                aria-label={`Delete ${nameOf(key)}`}
                onClick={() => onDelete(key.id)}
              />
            ),
          },
        ]),
  ];
}

export function filtersOf(me: string): readonly ChoiceFilter<ApiKey>[] {
  return [
    {
      name: 'owner',
      label: 'Owner',
      options: { me: 'me', bots: 'bots', users: 'other users' },
      matches: ({ owner_id: id }, value) => {
        if (value === 'me') return id === me;
        return value === 'bots' ? id.startsWith('bot_') : id !== me && id.startsWith('usr_');
      },
    },
    {
      name: 'use',
      label: 'Use',
      options: { unused: 'none for 90 days', limited: 'limited' },
      matches: (key, value) =>
        value === 'unused' ? isUnused(key) : key.read_only === true || (key.ip_policy_ids?.length ?? 0) > 0,
    },
    {
      name: 'expires',
      label: 'Expires',
      options: { never: 'never', some: 'at some time' },
      matches: ({ expires_at: end }, value) => (end === undefined) === (value === 'never'),
    },
  ];
}
