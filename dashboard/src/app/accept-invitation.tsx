import { useEffect, useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import { queryClient } from '../api/queries.ts';
import { acceptInvitation, leaveForProvider, showInvitation, signIn } from '../api/session.ts';
import type { Accepted, Invited } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Secret } from '../components/copy.tsx';
import { Check } from '../components/field.tsx';
import { Banner } from '../components/banner.tsx';
import { Logo } from '../components/icon.tsx';
import { formatTime } from '../lib/time.ts';
import { useSignInWays } from './sign-in.tsx';

const beforeToken = '#invite=';

/** The invitation in the URL, which is taken out of it at once: the link stays in no history and no bookmark. */
export function takeInvitation(): string | undefined {
  // A link that is opened in a tab of the dashboard changes nothing but the end of its URL.
  addEventListener('hashchange', () => {
    if (location.hash.startsWith(beforeToken)) location.reload();
  });
  if (!location.hash.startsWith(beforeToken)) return undefined;
  const token = location.hash.slice(beforeToken.length);
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  return token;
}

/** Asks before the link is used up, then shows the new user's token, once, and signs in. */
export function AcceptInvitation({ link, onDone }: { readonly link: string; readonly onDone: () => void }) {
  const [accepted, setAccepted] = useState<Accepted>();
  const [invited, setInvited] = useState<Invited>();
  const [isStored, setStored] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<string>();
  const ways = useSignInWays();
  const label = ways?.provider?.label;
  const run = async (act: () => Promise<void>): Promise<void> => {
    setPending(true);
    setError(undefined);
    try {
      await act();
    } catch (failure) {
      setError(wordsOf(failure));
    } finally {
      setPending(false);
    }
  };
  useEffect(() => {
    showInvitation(link).then(setInvited, (failure: unknown) => setError(wordsOf(failure)));
  }, [link]);
  const goOn = async (token: string): Promise<void> => {
    if (ways?.token !== false) await signIn(token);
    // Data that was read for somebody else must not be shown.
    queryClient.clear();
    onDone();
  };
  return (
    <div className="gate">
      <main>
        <div className="row">
          <Logo />
          <h1>Gatehouse</h1>
        </div>
        {error === undefined ? null : <Banner tone="deny">{error}</Banner>}
        {accepted === undefined ? (
          <div className="card">
            <h2>You are invited{invited === undefined ? '' : ` to ${invited.account}`}</h2>
            {invited === undefined ? null : <InvitedTo invited={invited} />}
            {invited === undefined ? null : (
              <Button
                look="primary"
                disabled={isPending}
                onClick={() => void run(async () => setAccepted(await acceptInvitation(link)))}
              >
                Accept the invitation
              </Button>
            )}
            {label === undefined || invited?.email === undefined ? null : (
              <>
                <p className="soft">
                  If {label} knows you as <b className="strong">{invited.email}</b>, sign in there instead, and you need
                  no token.
                </p>
                <Button icon="sign-in" disabled={isPending} onClick={() => void run(() => leaveForProvider('me'))}>
                  Sign in with {label}
                </Button>
              </>
            )}
            <Button onClick={onDone}>Not now</Button>
          </div>
        ) : (
          <div className="card">
            <h2>Welcome, {accepted.name}</h2>
            <p className="soft">
              You are {accepted.role === 'admin' ? 'an' : 'a'} {accepted.role}.{' '}
              {ways?.token === false ? 'The API takes this token.' : 'Sign in with this token from now on.'} It is shown
              this once; if it is lost, an admin can make another key for you.
            </p>
            <Secret text={accepted.token} what="token" isMain />
            <Check isOn={isStored} onChange={setStored}>
              I have stored the token
            </Check>
            <Button
              look="primary"
              disabled={!isStored || isPending}
              onClick={() => void run(() => goOn(accepted.token))}
            >
              Go to the dashboard
            </Button>
          </div>
        )}
      </main>
      <footer className="muted fine">{location.host}</footer>
    </div>
  );
}

function wordsOf(failure: unknown): string {
  return failure instanceof ApiError ? failure.message : 'The server does not answer. Try again in a moment.';
}

/** Says who invites, as whom, and what accepting does. */
function InvitedTo({
  invited: { name, email, role, invited_by: inviter, expires_at: end },
}: {
  readonly invited: Invited;
}) {
  return (
    <>
      <p>
        <b className="strong">{inviter}</b> invites you as <b className="strong">{name}</b>
        {email === undefined ? '' : ` (${email})`}, {roleWords[role]}.
      </p>
      <p className="soft">
        The link works once, and ends {formatTime(end)}. Accepting it makes you a user here, with a token of your own,
        which the next step shows.
      </p>
    </>
  );
}

const roleWords: Readonly<Record<Invited['role'], string>> = {
  admin: 'an admin, who may change everything',
  member: 'a member, who may change what is not reserved for admins',
  viewer: 'a viewer, who only reads',
};
