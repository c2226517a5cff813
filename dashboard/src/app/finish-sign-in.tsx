import { useEffect, useRef, useState } from 'react';

import { queryClient } from '../api/queries.ts';
import { finishAtProvider } from '../api/session.ts';
import type { OfferedAccount, ProviderAnswer } from '../api/session.ts';
import { Skeleton } from '../components/states.tsx';
import { refusalOf, SignIn } from './sign-in.tsx';

/** The page that the provider leads back to: signs in with its answer, or says why not. */
export function FinishSignIn({ answer, onDone }: { readonly answer: ProviderAnswer; readonly onDone: () => void }) {
  const [refusal, setRefusal] = useState<string>();
  const [accounts, setAccounts] = useState<readonly OfferedAccount[]>();
  const isSent = useRef(false);
  useEffect(() => {
    // An answer counts once.
    if (isSent.current) return;
    isSent.current = true;
    finishAtProvider(answer).then(
      (offered) => {
        if (offered.length > 0) return setAccounts(offered);
        // Data that was read for somebody else must not be shown.
        queryClient.clear();
        onDone();
      },
      (failure: unknown) => setRefusal(refusalOf(failure)),
    );
  }, [answer, onDone]);
  if (accounts !== undefined) return <SignIn accounts={accounts} />;
  return refusal === undefined ? <Skeleton lines={4} /> : <SignIn refusal={refusal} />;
}
