import { useCallback, useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import { asCallError, errorNumbers } from './client.ts';
import type { CallError } from './client.ts';
import { refreshAll } from './queries.ts';

export interface Action {
  /** Returns whether it worked; `error` says why not. */
  readonly run: (act: () => Promise<unknown>) => Promise<boolean>;
  readonly isPending: boolean;
  readonly error: CallError | undefined;
}

/** One or several calls that change something together. All that is shown is read again afterwards. */
export function useAction(): Action {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = useCallback(async (act: () => Promise<unknown>) => {
    setPending(true);
    setError(undefined);
    try {
      await act();
      refreshAll();
      return true;
    } catch (failure) {
      const callError = asCallError(failure);
      setError(callError);
      // What somebody else has changed is shown before anybody tries again.
      if (callError instanceof ApiError && callError.number === errorNumbers.stale) refreshAll();
      return false;
    } finally {
      setPending(false);
    }
  }, []);
  return { run, isPending, error };
}

/** If-Match with what was seen, for a call. */
export function demanding(etag: string | undefined): { ifMatch?: string } {
  return etag === undefined ? {} : { ifMatch: etag };
}
