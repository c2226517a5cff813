import { useMemo } from 'react';
import { Link } from 'wouter';

import type { Credential } from '../../../../client/src/index.ts';
import { useOwners } from '../../api/owners.ts';
import type { Owner } from '../../api/owners.ts';
import { Id } from '../../components/copy.tsx';
import { ListRows } from '../../components/list-page.tsx';
import type { ChoiceFilter } from '../../components/list-search.ts';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { nameOf } from '../../lib/text.ts';
import { AclText } from './acl-field.tsx';

export function CredentialList() {
  const owner = useOwners();
  const columns = useMemo(() => columnsOf(owner), [owner]);
  return (
    <ListRows
      list="CredentialsList"
      noun={['credential', 'credentials']}
      columns={columns}
      filters={filters}
      filterHint="Description, rule or id"
      searchText={textOf}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/agents/${id}`}
      icon="key"
      whenEmpty={{ title: 'No credentials', text: 'An agent signs in with the token of a credential.' }}
    />
  );
}

const textOf = ({ id, description = '', acl }: Credential): string => `${description} ${acl.join(' ')} ${id}`;

const filters: readonly ChoiceFilter<Credential>[] = [
  {
    name: 'acl',
    label: 'May bind',
    options: [
      ['all', 'everything'],
      ['some', 'by rules'],
    ],
    matches: ({ acl }, value) => (acl.length === 0) === (value === 'all'),
  },
];

function columnsOf(owner: (id: string) => Owner): readonly Column<Credential>[] {
  return [
    {
      id: 'description',
      head: 'Description',
      width: '34%',
      sortBy: (credential) => nameOf(credential).toLowerCase(),
      cell: (credential) => (
        <>
          <Link className="main" to={`/agents/${credential.id}`} data-row-link>
            {nameOf(credential)}
          </Link>
          <span className="sub m1">
            {owner(credential.owner_id).name}, may bind{' '}
            {credential.acl.length === 0 ? 'everything' : credential.acl.join(', ')}
          </span>
          <span className="p1 id-line">
            <Id id={credential.id} muted />
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
    { id: 'acl', head: 'May bind', width: '26%', priority: 'p1', cell: ({ acl }) => <AclText acl={acl} /> },
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
