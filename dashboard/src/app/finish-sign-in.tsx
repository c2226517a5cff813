import { useEffect, useRef, useState } from 'react';

import { queryClient } from '../api/queries.ts';
import { finishAtProvider } from '../api/session.ts';
import type { ProviderAnswer } from '../api/session.ts';
import { Skeleton } from '../components/states.tsx';
import { refusalOf, SignIn } from './sign-in.tsx';

/** The page that the provider leads back to: signs in with its answer, or says why not. */
export function FinishSignIn({ answer, onDone }: { readonly answer: ProviderAnswer; readonly onDone: () => void }) {
  const [refusal, setRefusal] = useState<string>();
  const isSent = useRef(false);
  useEffect(() => {
    // An answer counts once.
    if (isSent.current) return;
    isSent.current = true;
    finishAtProvider(answer).then(
      () => {
        // What was read for somebody else must not be shown.
        queryClient.clear();
        onDone();
      },
      (failure: unknown) => setRefusal(refusalOf(failure)),
    );
  }, [answer, onDone]);
  return refusal === undefined ? <Skeleton lines={4} /> : <SignIn refusal={refusal} />;
}
