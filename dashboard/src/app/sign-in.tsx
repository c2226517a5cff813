import { useEffect, useRef, useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import { queryClient, refreshAll } from '../api/queries.ts';
import { leaveForProvider, readSignInWays, rereadSession, signIn } from '../api/session.ts';
import type { OfferedAccount, SignInWays } from '../api/session.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { Secret } from '../components/copy.tsx';
import { TextField } from '../components/field.tsx';
import { Icon, Logo } from '../components/icon.tsx';
import { Skeleton } from '../components/states.tsx';

export const accessEnded = 'Your access was ended. Ask an admin.';

/** Words for refusals whose message speaks of headers. Others are the server's own. */
const refusalWords: Readonly<Record<number, string>> = {
  202: 'This is not a whole token. Copy it as it was shown when the key was made, from its first to its last character.',
  203: 'No key has this token: it was deleted or replaced, or the token is not whole.',
  208: 'This is the id of a key, not its token. The token was shown once, when the key was made.',
  636: accessEnded,
};

function wordsOf({ number, message }: ApiError): string {
  return (number === undefined ? undefined : refusalWords[number]) ?? message;
}

/** Words for whatever keeps somebody from signing in. */
export function refusalOf(failure: unknown): string {
  return failure instanceof ApiError ? wordsOf(failure) : 'The server does not answer. Try again in a moment.';
}

/** Asks who it is: the identity provider first, then a token. `again` says why it is asked for once more. */
export function SignIn({
  again,
  refusal,
  accounts,
  signOutUrl,
}: {
  readonly again?: string;
  /** Why the provider's answer has let nobody in. */
  readonly refusal?: string;
  /** Accounts that know whoever the provider has confirmed, to choose from. */
  readonly accounts?: readonly OfferedAccount[];
  readonly signOutUrl?: string | undefined;
}) {
  const ways = useSignInWays();
  const [wantsToken, setWantsToken] = useState(false);
  const label = ways?.provider?.label;
  return (
    <div className="gate">
      <main>
        <div className="row">
          <Logo />
          <h1>Gatehouse</h1>
        </div>
        {again === undefined ? null : <Banner tone="warn">{again}</Banner>}
        {refusal === undefined ? null : <Banner tone="deny">{refusal}</Banner>}
        {signOutUrl === undefined ? null : <SignedOut label={label ?? 'your provider'} url={signOutUrl} />}
        {ways === undefined ? (
          <Skeleton lines={2} />
        ) : label === undefined || (ways.token && wantsToken) ? (
          <TokenForm provider={label} onBack={() => setWantsToken(false)} />
        ) : (
          <ProviderCard
            label={label}
            isOver={again !== undefined}
            wasRefused={refusal !== undefined || accounts !== undefined}
            accounts={accounts}
            onToken={ways.token ? () => setWantsToken(true) : undefined}
          />
        )}
        {ways?.token === true && (wantsToken || label === undefined) ? <NoToken /> : null}
      </main>
      <footer className="muted fine">{location.host}</footer>
    </div>
  );
}

/** Undefined until the server has said how people sign in; without an answer, with a token. */
export function useSignInWays(): SignInWays | undefined {
  const [ways, setWays] = useState<SignInWays>();
  useEffect(() => {
    readSignInWays().then(setWays, () => setWays({ token: true }));
  }, []);
  return ways;
}

function SignedOut({ label, url }: { readonly label: string; readonly url: string }) {
  return (
    <Banner
      note={`You may still be signed in at ${label}, which would then sign you in here again without asking.`}
      actions={
        <a className="btn sm" href={url}>
          Sign out at {label}
        </a>
      }
    >
      You are signed out here.
    </Banner>
  );
}

function ProviderCard({
  label,
  isOver,
  wasRefused,
  accounts,
  onToken,
}: {
  readonly label: string;
  readonly isOver: boolean;
  readonly wasRefused: boolean;
  readonly accounts: readonly OfferedAccount[] | undefined;
  readonly onToken: (() => void) | undefined;
}) {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<string>();
  useSignInElsewhere(isOver);
  const leave = async (as: 'me' | 'other', accountId?: string): Promise<void> => {
    setPending(true);
    setError(undefined);
    try {
      await leaveForProvider(as, accountId);
    } catch (failure) {
      setError(refusalOf(failure));
      setPending(false);
    }
  };
  return (
    <div className="card">
      {error === undefined ? null : <Banner tone="deny">{error}</Banner>}
      {accounts !== undefined ? (
        <ChooseAccount accounts={accounts} isPending={isPending} onChoose={(id) => void leave('me', id)} />
      ) : isOver ? (
        <a className="btn primary" href={location.pathname} target="_blank" rel="noreferrer">
          <Icon name="sign-in" />
          Sign in with {label} in a new tab
        </a>
      ) : (
        <Button look="primary" icon="sign-in" startsFocused disabled={isPending} onClick={() => void leave('me')}>
          Sign in with {label}
        </Button>
      )}
      <p className="muted fine">Your provider asks who you are. Your role may come from your groups there.</p>
      {wasRefused ? (
        <Button icon="users" disabled={isPending} onClick={() => void leave('other')}>
          Sign in as somebody else
        </Button>
      ) : null}
      {onToken === undefined ? null : (
        <>
          <div className="or">in an emergency</div>
          <Button icon="key" onClick={onToken}>
            Use an API token
          </Button>
        </>
      )}
    </div>
  );
}

/** Asks which account is meant: any account can invite any address. */
function ChooseAccount({
  accounts,
  isPending,
  onChoose,
}: {
  readonly accounts: readonly OfferedAccount[];
  readonly isPending: boolean;
  readonly onChoose: (id: string) => void;
}) {
  return (
    <>
      <h2>Which account?</h2>
      <p className="soft">
        Several accounts have a user or an invitation with your address. Choose the one you belong to: from then on you
        sign in to it.
      </p>
      {accounts.map(({ id, name }) => (
        <Button key={id} icon="sign-in" disabled={isPending} onClick={() => onChoose(id)}>
          Sign in to {name}
        </Button>
      ))}
    </>
  );
}

/** Goes on here when somebody has signed in in another tab: leaving this one would lose what was typed. */
function useSignInElsewhere(isOver: boolean): void {
  useEffect(() => {
    if (!isOver) return undefined;
    const look = (): void => void rereadSession().then(refreshAll);
    addEventListener('storage', look);
    return () => removeEventListener('storage', look);
  }, [isOver]);
}

/** The form that turns a token into a session. */
function TokenForm({ provider, onBack }: { readonly provider: string | undefined; readonly onBack: () => void }) {
  const [token, setToken] = useState('');
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<string>();

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);

  const submit = async (): Promise<void> => {
    setPending(true);
    setError(undefined);
    try {
      const isSomebodyElse = await signIn(token.trim());
      // Data that was read for somebody else must not be shown.
      if (isSomebodyElse) queryClient.clear();
      refreshAll();
    } catch (failure) {
      setError(refusalOf(failure));
    } finally {
      setPending(false);
    }
  };

  return (
    <form
      ref={form}
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextField
        label="API token"
        type="password"
        autoComplete="current-password"
        mono
        startsFocused
        value={token}
        onChange={setToken}
        error={error}
        hint="The whole token of an API key, not its id (ak_…)."
      />
      <Button look="primary" type="submit" disabled={isPending || token.trim() === ''}>
        Sign in
      </Button>
      {provider === undefined ? null : (
        <Button look="ghost" icon="left" onClick={onBack}>
          Back to {provider}
        </Button>
      )}
      <p className="muted fine">
        The session ends when it is not used for a while, and at once when the key is deleted.
      </p>
    </form>
  );
}

function NoToken() {
  return (
    <details>
      <summary className="soft">No token at hand?</summary>
      <div className="stack tight">
        <p className="soft">
          Somebody who is signed in can make a key for you, under API keys. The first token was printed on the first
          start. If it is lost, make another key on the machine itself, for the user whom the list names:
        </p>
        <Secret text="npx gatehouse accounts users" what="command" />
        <Secret text="npx gatehouse keys create --user NAME" what="command" />
      </div>
    </details>
  );
}
