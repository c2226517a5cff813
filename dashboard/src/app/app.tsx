import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';

import { prefetchList, queryClient } from '../api/queries.ts';
import { readSession, useSessionState } from '../api/session.ts';
import { Modal } from '../components/dialog.tsx';
import { ErrorState } from '../components/states.tsx';
import { Toasts } from '../components/toast.tsx';
import { asCallError } from '../api/client.ts';
import type { CallError } from '../api/client.ts';
import { ConnectionError } from '../../../client/src/index.ts';
import type { ListId } from '../../../client/src/index.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { applyTheme, storedTheme } from './theme.ts';

/** Shows the page. The rows of its list are likely to be there already, because the first script has asked for them. */
export function start(list: ListId | undefined): void {
  if (list !== undefined) prefetchList(list);
  applyTheme(storedTheme());
  const root = document.querySelector('#root');
  if (root === null) throw new Error('The page has no element with the id root.');
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/dashboard">
        <Gate />
        <Toasts />
      </Router>
    </QueryClientProvider>
  );
}

/** The page of whoever is signed in. When the session ends, sign-in comes over it, and what was typed stays. */
function Gate() {
  const session = useSessionState();
  const [error, setError] = useState<CallError>();
  const begin = (): void => {
    readSession().then(
      () => setError(undefined),
      (failure: unknown) => {
        setError(
          failure instanceof TypeError ? new ConnectionError('The server does not answer.') : asCallError(failure),
        );
      },
    );
  };
  useEffect(begin, []);
  if (session.kind === 'unknown') {
    return error === undefined ? null : <ErrorState title="The dashboard cannot start" error={error} onRetry={begin} />;
  }
  if (session.kind === 'none') return <SignIn />;
  return (
    <>
      <Shell />
      {session.kind === 'over' ? (
        <Modal label="Sign in again" className="modal gate-over" canClose={false} onClose={() => undefined}>
          <SignIn
            again={session.reason ?? 'The session is over. Sign in to go on where you were; what you typed is kept.'}
          />
        </Modal>
      ) : null}
    </>
  );
}
