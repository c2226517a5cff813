import { useEffect, useRef, useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import { queryClient, refreshAll } from '../api/queries.ts';
import { signIn } from '../api/session.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { Secret } from '../components/copy.tsx';
import { TextField } from '../components/field.tsx';
import { Logo } from '../components/icon.tsx';

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
      setError(failure instanceof ApiError ? failure.message : 'The server does not answer. Try again in a moment.');
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
            hint="The whole token of an API key. Its id (ak_…) does not open this door."
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
              It was printed on the first start. On the machine itself, this shows how to make a new one:
            </p>
            <Secret text="npx gatehouse users --help" what="command" />
          </div>
        </details>
      </main>
      <p className="muted fine">{location.host}</p>
    </div>
  );
}
