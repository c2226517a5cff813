import { useCallback, useEffect, useState } from 'react';

import { ApiError } from '../../../../client/src/index.ts';
import type { InspectionWithRequests } from '../../../../client/src/index.ts';
import { asCallError, client } from '../../api/client.ts';
import type { CallError } from '../../api/client.ts';
import { pollEvery } from '../../lib/activity.ts';

export type Inspected = InspectionWithRequests['requests'][number];

const everyMs = 2000;
/** Rows that stay; each gateway keeps as many. */
const mostRows = 300;
const notFound = 404;

export interface FollowedInspection {
  /** Newest first; undefined before the first answer. */
  readonly requests: readonly Inspected[] | undefined;
  readonly told: InspectionWithRequests | undefined;
  /** It has ended, or is of nobody. */
  readonly isOver: boolean;
  readonly error: CallError | undefined;
  readonly readNow: () => void;
}

interface State {
  readonly requests?: readonly Inspected[];
  readonly told?: InspectionWithRequests;
  readonly isOver?: boolean;
  readonly error?: CallError | undefined;
}

/** Follows an inspection: asks every two seconds for what is new, while somebody looks. */
export function useInspection(id: string, isPaused: boolean): FollowedInspection {
  const [state, setState] = useState<State>({});
  const [round, setRound] = useState(0);
  const readNow = useCallback(() => setRound((before) => before + 1), []);
  const { told, isOver = false } = state;
  const cursor = told?.cursor ?? '';
  useEffect(() => {
    if (isOver || isPaused) return undefined;
    const leaving = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const query = cursor === '' ? {} : { after: cursor };
        const answer = await client.call('InspectionsGet', { path: { id }, query, signal: leaving.signal });
        setState(({ requests = [] }) => ({ requests: joined(answer.requests, requests), told: answer }));
      } catch (failure) {
        if (leaving.signal.aborted) return;
        const isGone = failure instanceof ApiError && failure.status === notFound;
        setState((before) => ({ ...before, ...(isGone ? { isOver: true } : { error: asCallError(failure) }) }));
      }
    };
    const look = (): void => {
      if (round === 0 && cursor === '') void read();
      else if (pollEvery(everyMs)() !== false) void read();
    };
    if (cursor === '' || round > 0) look();
    const timer = setInterval(look, everyMs);
    return () => {
      clearInterval(timer);
      leaving.abort();
    };
  }, [id, cursor, isOver, isPaused, round]);
  return { requests: state.requests, told, isOver, error: state.error, readNow };
}

function joined(newer: readonly Inspected[], before: readonly Inspected[]): readonly Inspected[] {
  const known = new Set(newer.map(({ id }) => id));
  return [...newer, ...before.filter(({ id }) => !known.has(id))]
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, mostRows);
}
