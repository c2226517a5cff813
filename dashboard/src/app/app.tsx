import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import type { AroundNavHandler } from 'wouter';

import { prefetchList, queryClient } from '../api/queries.ts';
import { readSession, takeProviderAnswer, useSessionState } from '../api/session.ts';
import type { ProviderAnswer } from '../api/session.ts';
import { Modal } from '../components/dialog.tsx';
import { ErrorState, Skeleton } from '../components/states.tsx';
import { Toasts } from '../components/toast.tsx';
import { asCallError } from '../api/client.ts';
import type { CallError } from '../api/client.ts';
import { ConnectionError } from '../../../client/src/index.ts';
import type { ListId } from '../../../client/src/index.ts';
import { takeKeptInput } from '../lib/kept-input.ts';
import { withMoment } from '../lib/moment.ts';
import { PageBoundary } from './page-boundary.tsx';
import { AcceptInvitation, takeInvitation } from './accept-invitation.tsx';
import { Shell } from './shell.tsx';
import { FinishSignIn } from './finish-sign-in.tsx';
import { accessEnded, SignIn } from './sign-in.tsx';
import { applyTheme, storedTheme } from './theme.ts';

/** Shows the page. The rows of its list are likely to be there already, because the first script has asked for them. */
export function start(list: ListId | undefined): void {
  if (list !== undefined) prefetchList(list);
  applyTheme(storedTheme());
  const root = document.querySelector('#root');
  if (root === null) throw new Error('The page has no element with the id root.');
  const link = takeInvitation();
  takeKeptInput();
  const answer = takeProviderAnswer();
  createRoot(root).render(
    <StrictMode>
      <App link={link} answer={answer} />
    </StrictMode>,
  );
}

/** Every link stays in the moment that is shown. */
const inMoment = (href: string): string => withMoment(href, location.search);
const navigateInMoment: AroundNavHandler = (navigate, to, options) =>
  navigate(withMoment(to, location.search), options);

function App({ link, answer }: { readonly link: string | undefined; readonly answer: ProviderAnswer | undefined }) {
  const [isInvited, setInvited] = useState(link !== undefined);
  const [isBack, setBack] = useState(answer !== undefined);
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/dashboard" hrefs={inMoment} aroundNav={navigateInMoment}>
        <PageBoundary>
          {isInvited && link !== undefined ? (
            <AcceptInvitation link={link} onDone={() => setInvited(false)} />
          ) : isBack && answer !== undefined ? (
            <FinishSignIn answer={answer} onDone={() => setBack(false)} />
          ) : (
            <Gate />
          )}
          <Toasts />
        </PageBoundary>
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
  const hasEnded = session.kind === 'ended';
  useEffect(() => {
    if (hasEnded) queryClient.clear();
  }, [hasEnded]);
  if (session.kind === 'unknown') {
    if (error === undefined) return <Skeleton lines={4} />;
    return (
      <main>
        <ErrorState isPage title="The dashboard cannot start" error={error} onRetry={begin} />
      </main>
    );
  }
  if (session.kind === 'none') return <SignIn signOutUrl={session.signOutUrl} />;
  if (session.kind === 'ended') return <SignIn refusal={accessEnded} />;
  return (
    <>
      {/* Nothing of it is to be read while nobody is signed in; what was typed stays. */}
      <div className={session.kind === 'over' ? 'unseen' : 'seen'}>
        <Shell />
      </div>
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
