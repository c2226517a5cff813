import { Link } from 'wouter';

import type { AppSession } from '../../../../client/src/index.ts';
import { Strange } from '../../components/strange.tsx';
import { textHas } from '../../lib/filter.ts';
import { visible } from '../../lib/strangers.ts';
import { pastRequests } from '../../parts/past-requests.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, Rows } from '../../resource/describe.ts';
import { EndButton } from './end-button.tsx';
import { whoIs } from './who.ts';

/** Such as "Firefox on Windows". */
function browserOf({
  browser_name: browser,
  os_name: system,
  raw,
}: AppSession['browser_session']['user_agent']): string {
  if (browser === '' && system === '') return raw === '' ? 'Unknown browser' : raw.slice(0, 40);
  return [browser || 'A browser', system].filter((word) => word !== '').join(' on ');
}

const rows: Rows<AppSession> = {
  columns: [
    {
      id: 'who',
      head: 'Who',
      width: '30%',
      sortBy: (session) => whoIs(session).toLowerCase(),
      cell: (session) => (
        <>
          <Link className="main" to={`/visitors/${session.application_user.id}`} data-row-link>
            <Strange text={whoIs(session)} />
          </Link>
          <span className="sub">{visible(session.groups.join(', '))}</span>
          <span className="sub m1">{browserOf(session.browser_session.user_agent)}</span>
        </>
      ),
    },
    {
      id: 'where',
      head: 'Where',
      priority: 'p1',
      sortBy: ({ public_url: url }) => url,
      cell: ({ public_url: url, edge }) => (
        <Link className="nowrap" to={`/https-edges/${edge.id}`}>
          {url.replace('https://', '')}
        </Link>
      ),
    },
    {
      id: 'from',
      head: 'From',
      priority: 'p1',
      sortBy: ({ browser_session }) => browser_session.ip_address,
      cell: ({ browser_session }) => (
        <>
          <Link
            className="mono nowrap"
            to={pastRequests({ source: browser_session.ip_address })}
            title="Past requests from here"
          >
            {browser_session.ip_address}
          </Link>
          <span className="sub" title={browser_session.user_agent.raw}>
            {browserOf(browser_session.user_agent)}
          </span>
        </>
      ),
    },
    timeColumn('Signed in', ({ created_at: at }) => at, 'p3'),
    timeColumn('Last used', ({ last_active: at }) => at, 'p2'),
    timeColumn('Ends', ({ expires_at: at }) => at, 'p3'),
    {
      id: 'end',
      head: '',
      isRight: true,
      isNarrow: true,
      cell: (session) => (
        <EndButton
          operation="ApplicationSessionsDelete"
          id={session.id}
          what={`the session of ${visible(whoIs(session))}`}
          words="End"
        />
      ),
    },
  ],
  searchFilter: textHas('email', 'name', 'browser_session.ip_address', 'id'),
};

export const sessions: Listed<'ApplicationSessionsList'> = {
  list: 'ApplicationSessionsList',
  noun: ['session', 'sessions'],
  icon: 'users',
  hrefOf: ({ application_user: { id } }) => `/visitors/${id}`,
  filterHint: 'Mail address, name or source',
  whenEmpty: ['Nobody has signed in', 'A route with the module Sign-in asks its visitors to sign in with a provider.'],
  footNote:
    '“End” takes effect at every gateway with the next request. The person can sign in again, unless the module no longer lets them in.',
  Rows: ({ render }) => render(rows),
};
