import { Link } from 'wouter';

import type { AppUser } from '../../../../client/src/index.ts';
import { Strange } from '../../components/strange.tsx';
import { textHas } from '../../lib/filter.ts';
import { visible } from '../../lib/strangers.ts';
import { pastRequests } from '../../parts/past-requests.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, Rows } from '../../resource/describe.ts';
import { EndButton } from './end-button.tsx';
import { decidedAs, whoIs } from './who.ts';

const rows: Rows<AppUser> = {
  columns: [
    {
      id: 'who',
      head: 'Who',
      width: '34%',
      sortBy: (user) => whoIs(user).toLowerCase(),
      cell: (user) => (
        <>
          <Link className="main" to={`/visitors/${user.id}`} data-row-link>
            <Strange text={whoIs(user)} />
          </Link>
          <span className="sub">{visible(user.email === '' ? user.provider_user_id : user.name)}</span>
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
        <Link className="nowrap" to={pastRequests({ person: decidedAs(user) })}>
          Past requests<span className="vh"> of {visible(whoIs(user))}</span>
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
          what={`all sessions of ${visible(whoIs(user))}`}
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
  hrefOf: ({ id }) => `/visitors/${id}`,
  filterHint: 'Mail address, name or id',
  whenEmpty: ['Nobody has signed in', 'A route with the module Sign-in asks its visitors to sign in with a provider.'],
  footNote: 'Ending all sessions of somebody also forgets who it was, until the next sign-in.',
  Rows: ({ render }) => render(rows),
};
