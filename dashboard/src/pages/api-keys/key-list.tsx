import { useMemo } from 'react';
import { Link } from 'wouter';

import type { ApiKey } from '../../../../client/src/index.ts';
import { useOwners, useOwnersNamed } from '../../api/owners.ts';
import type { Owner } from '../../api/owners.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { ListPage } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column, Sort } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { nameOf } from '../../lib/text.ts';
import { isOneOf, textHas } from '../../lib/filter.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateKey } from './create-key.tsx';
import { DeleteKey } from './delete-key.tsx';
import { Expiry, isUnused, KeyBadges, LastUse } from './key-state.tsx';

const inTexts = textHas('description', 'id');
const usedLast: Sort = { column: 'used', direction: 'descending' };

export function KeyList() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const owner = useOwners();
  const { principal } = useSession();
  const columns = useMemo(
    () => columnsOf(owner, mayWrite, (id) => setParams({ delete: id })),
    [owner, mayWrite, setParams],
  );
  const filters = useMemo(() => filtersOf(principal.id), [principal.id]);
  const ownersNamed = useOwnersNamed();
  const searchFilter = useMemo(
    () => (word: string) => `${inTexts(word)} || ${isOneOf('owner_id', ownersNamed(word))}`,
    [ownersNamed],
  );
  const create = (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      Create key
    </Button>
  );
  return (
    <>
      <ListPage
        title="API keys"
        lead="A key acts as its owner, with the owner’s rights. Deleting one stops its calls and sessions at once."
        action={mayWrite ? create : undefined}
        above={<LookOnly what="API keys" />}
        list="ApiKeysList"
        noun={['key', 'keys']}
        columns={columns}
        filters={filters}
        filterHint="Description, owner or id"
        searchFilter={searchFilter}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/api-keys/${id}`}
        defaultSort={usedLast}
        icon="key"
        whenEmpty={{
          title: 'No keys',
          text: 'A key lets a program or a person call the API.',
          action: mayWrite ? create : undefined,
        }}
      />
      {params.has('create') && mayWrite ? <CreateKey onClose={() => setParams({ create: undefined })} /> : null}
      {params.get('delete') === null ? null : (
        <DeleteKey id={params.get('delete') ?? ''} onClose={() => setParams({ delete: undefined })} />
      )}
    </>
  );
}

function columnsOf(
  owner: (id: string) => Owner,
  mayWrite: boolean,
  onDelete: (id: string) => void,
): readonly Column<ApiKey>[] {
  return [
    {
      id: 'description',
      head: 'Description',
      width: '34%',
      sortBy: (key) => nameOf(key).toLowerCase(),
      cell: (key) => (
        <>
          <span className="row">
            <Link className="main" to={`/api-keys/${key.id}`} data-row-link>
              {nameOf(key)}
            </Link>
            <KeyBadges apiKey={key} />
          </span>
          <span className="sub m1">{owner(key.owner_id).name}</span>
          <span className="p1 id-line">
            <Id id={key.id} muted />
          </span>
        </>
      ),
    },
    {
      id: 'owner',
      head: 'Owner',
      width: '18%',
      priority: 'p1',
      sortBy: ({ owner_id: id }) => owner(id).name.toLowerCase(),
      cell: ({ owner_id: id }) => (
        <>
          <span className="main">{owner(id).name}</span>
          <span className="sub">{owner(id).kind}</span>
        </>
      ),
    },
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
    {
      id: 'created',
      head: 'Created',
      priority: 'p3',
      isNumber: true,
      sortBy: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    ...(mayWrite
      ? [
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
        ]
      : []),
  ];
}

function filtersOf(me: string): readonly ChoiceFilter<ApiKey>[] {
  return [
    {
      name: 'owner',
      label: 'Owner',
      options: [
        ['me', 'me'],
        ['bots', 'bots'],
        ['users', 'other users'],
      ],
      matches: ({ owner_id: id }, value) => {
        if (value === 'me') return id === me;
        return value === 'bots' ? id.startsWith('bot_') : id !== me && id.startsWith('usr_');
      },
    },
    {
      name: 'use',
      label: 'Use',
      options: [
        ['unused', 'none for 90 days'],
        ['limited', 'limited'],
      ],
      matches: (key, value) =>
        value === 'unused' ? isUnused(key) : key.read_only === true || (key.ip_policy_ids?.length ?? 0) > 0,
    },
    {
      name: 'expires',
      label: 'Expires',
      options: [
        ['never', 'never'],
        ['some', 'at some time'],
      ],
      matches: ({ expires_at: end }, value) => (end === undefined) === (value === 'never'),
    },
  ];
}
