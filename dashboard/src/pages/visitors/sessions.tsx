import { Link } from 'wouter';

import type { AppSession } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { Problem } from '../../components/problem.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { toast } from '../../components/toast.tsx';
import { textHas } from '../../lib/filter.ts';
import { timeColumn } from '../../resource/columns.tsx';
import type { Listed, Rows } from '../../resource/describe.ts';

/** The address of somebody, or whatever else is known. */
export function whoIs({ email, name }: { readonly email: string; readonly name: string }): string {
  return email || name || 'Unknown to the provider';
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
          <span className="main">{whoIs(session)}</span>
          <span className="sub">{session.groups.join(', ')}</span>
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
      cell: ({ browser_session }) => <code className="nowrap">{browser_session.ip_address}</code>,
    },
    timeColumn('Signed in', ({ created_at: at }) => at, 'p3'),
    timeColumn('Last used', ({ last_active: at }) => at, 'p2'),
    timeColumn('Ends', ({ expires_at: at }) => at, 'p3'),
    { id: 'end', head: '', cell: (session) => <EndSession session={session} /> },
  ],
  searchFilter: textHas('email', 'name', 'browser_session.ip_address', 'id'),
};

export const sessions: Listed<'ApplicationSessionsList'> = {
  list: 'ApplicationSessionsList',
  noun: ['session', 'sessions'],
  icon: 'users',
  filterHint: 'Mail address, name or source',
  whenEmpty: ['Nobody has signed in', 'A route with the module Sign-in asks its visitors to sign in with a provider.'],
  footNote:
    '“End” holds at every gateway from the next request on. The person can sign in again, unless the module no longer lets them in.',
  Rows: ({ render }) => render(rows),
};

function EndSession({ session }: { readonly session: AppSession }) {
  const mayWrite = useMayWrite();
  const change = useChange('ApplicationSessionsDelete');
  const end = async (): Promise<void> => {
    const done = await change.run({ path: { id: session.id } });
    if (done !== undefined) toast(`Ended the session of ${whoIs(session)}.`);
  };
  if (!mayWrite) return null;
  return (
    <>
      <button
        type="button"
        className="btn sm"
        disabled={change.isPending}
        aria-label={`End the session of ${whoIs(session)}`}
        onClick={() => void end()}
      >
        End
      </button>
      {change.error === undefined ? null : <Problem error={change.error} />}
    </>
  );
}
