import { Link } from 'wouter';

import type { AppUser } from '../../../../client/src/index.ts';
import { textHas } from '../../lib/filter.ts';
import { pastRequests } from '../../parts/past-requests.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, Rows } from '../../resource/describe.ts';
import { EndButton } from './end-button.tsx';
import { whoIs } from './sessions.tsx';

const rows: Rows<AppUser> = {
  columns: [
    {
      id: 'who',
      head: 'Who',
      width: '34%',
      sortBy: (user) => whoIs(user).toLowerCase(),
      cell: (user) => (
        <>
          <span className="main">{whoIs(user)}</span>
          <span className="sub">{user.email === '' ? user.provider_user_id : user.name}</span>
        </>
      ),
    },
    {
      id: 'provider',
      head: 'Provider',
      priority: 'p1',
      sortBy: ({ identity_provider: { url } }) => url,
      cell: ({ identity_provider: { url } }) => <span className="soft">{url.replace('https://', '')}</span>,
    },
    timeColumn('First', ({ created_at: at }) => at, 'p3'),
    timeColumn('Last signed in', ({ last_login: at }) => at, 'p2'),
    {
      id: 'requests',
      head: 'Requests',
      priority: 'p1',
      isNarrow: true,
      cell: (user) => (
        <Link className="nowrap" to={pastRequests({ person: user.email || user.provider_user_id })}>
          Past requests<span className="vh"> of {whoIs(user)}</span>
        </Link>
      ),
    },
    {
      id: 'end',
      head: '',
      isRight: true,
      isNarrow: true,
      cell: (user) => (
        <EndButton
          operation="ApplicationUsersDelete"
          id={user.id}
          what={`all sessions of ${whoIs(user)}`}
          words="End all"
        />
      ),
    },
  ],
  searchFilter: textHas('email', 'name', 'provider_user_id', 'id'),
};

export const people: Listed<'ApplicationUsersList'> = {
  list: 'ApplicationUsersList',
  noun: ['person', 'people'],
  icon: 'users',
  filterHint: 'Mail address, name or id',
  whenEmpty: ['Nobody has signed in', 'A route with the module Sign-in asks its visitors to sign in with a provider.'],
  footNote: 'Ending all sessions of somebody also forgets who it was, until the next sign-in.',
  Rows: ({ render }) => render(rows),
};
