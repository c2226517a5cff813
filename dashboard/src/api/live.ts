import { useEffect } from 'react';

import type { OperationId } from '../../../client/src/index.ts';
import { pollEvery } from '../lib/activity.ts';
import { queryClient } from './queries.ts';

const everyMs = 10_000;

/** Reads again what changes by itself, while somebody looks. `operations` must be the same array each time. */
export function useLive(operations: readonly OperationId[]): void {
  useEffect(() => {
    const isWanted = pollEvery(everyMs);
    const timer = setInterval(() => {
      if (document.hidden || isWanted() === false) return;
      for (const id of operations) void queryClient.invalidateQueries({ queryKey: [id] });
    }, everyMs);
    return () => clearInterval(timer);
  }, [operations]);
}
