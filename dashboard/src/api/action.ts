import { ApiError } from '../../../client/src/index.ts';
import { errorNumbers } from './client.ts';
import type { CallError } from './client.ts';
import { refreshAll, useAct } from './queries.ts';

export interface Action {
  /** Returns whether it worked; `error` says why not. */
  readonly run: (act: () => Promise<unknown>) => Promise<boolean>;
  readonly isPending: boolean;
  readonly error: CallError | undefined;
}

/** One or several calls that change something together. */
export function useAction(): Action {
  const { run, isPending, error } = useAct(async (act: () => Promise<unknown>) => {
    try {
      await act();
      return true;
    } catch (failure) {
      // A change of somebody else is shown before anybody tries again.
      if (failure instanceof ApiError && failure.number === errorNumbers.stale) refreshAll();
      throw failure;
    }
  });
  return { run: async (act) => (await run(act)) === true, isPending, error };
}

/** If-Match with what was seen, for a call. */
export function demanding(etag: string | undefined): { ifMatch?: string } {
  return etag === undefined ? {} : { ifMatch: etag };
}
