import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Router } from 'wouter';

import { queryClient } from '../api/queries.ts';
import { readSession, useSessionState } from '../api/session.ts';
import { Modal } from '../components/dialog.tsx';
import { ErrorState } from '../components/states.tsx';
import { Toasts } from '../components/toast.tsx';
import { asCallError } from '../api/client.ts';
import type { CallError } from '../api/client.ts';
import { ConnectionError } from '../../../client/src/index.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

export function App() {
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
