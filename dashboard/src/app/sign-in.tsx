import { useEffect, useRef, useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import { queryClient, refreshAll } from '../api/queries.ts';
import { signIn } from '../api/session.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { Secret } from '../components/copy.tsx';
import { TextField } from '../components/field.tsx';
import { Logo } from '../components/icon.tsx';

/** Words for refusals whose message speaks of headers. Others are the server's own. */
const refusalWords: Readonly<Record<number, string>> = {
  202: 'This is not a whole token. Copy it as it was shown when the key was made, from its first to its last character.',
  203: 'No key has this token: it was deleted or replaced, or the token is not whole.',
  208: 'This is the id of a key, not its token. The token was shown once, when the key was made.',
};

function wordsOf({ number, message }: ApiError): string {
  return (number === undefined ? undefined : refusalWords[number]) ?? message;
}

/** The form that turns a token into a session. `again` says why it is asked for once more. */
export function SignIn({ again }: { readonly again?: string }) {
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
      // What was read for somebody else must not be shown.
      if (isSomebodyElse) queryClient.clear();
      refreshAll();
    } catch (failure) {
      setError(failure instanceof ApiError ? wordsOf(failure) : 'The server does not answer. Try again in a moment.');
    } finally {
      setPending(false);
    }
  };

  return (
    <div className="gate">
      <main>
        <div className="row">
          <Logo />
          <h1>Gatehouse</h1>
        </div>
        {again === undefined ? null : <Banner tone="warn">{again}</Banner>}
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
          <p className="muted fine">
            The session ends when it is not used for a while, and at once when the key is deleted.
          </p>
        </form>
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
      </main>
      <p className="muted fine">{location.host}</p>
    </div>
  );
}
