import { useCallback } from 'react';
import { useLocation, useSearch, useSearchParams } from 'wouter';

import { momentIn } from './moment.ts';

export type UrlChange = Readonly<Record<string, string | undefined>>;

/**
 * The part of the URL after the question mark. Filter, sort, page, tab and the opened row live there, so that a link
 * shows the same to a colleague. A change with `undefined` takes a parameter out.
 */
export function useUrlState(): [URLSearchParams, (change: UrlChange, options?: { push?: boolean }) => void] {
  const [params, setParams] = useSearchParams();
  const change = useCallback(
    (values: UrlChange, { push = false }: { push?: boolean } = {}) => {
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(values)) {
            if (value === undefined || value === '') next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: !push },
      );
    },
    [setParams],
  );
  return [params, change];
}

/** The earlier moment that is shown; undefined for now. */
export function useMoment(): string | undefined {
  return momentIn(useSearch());
}

/** Opens the page of a thing that was just made, or the overview again if its steps have led here (`?from=overview`). */
export function useLanding(): (path: string) => void {
  const [, navigate] = useLocation();
  const [params] = useSearchParams();
  const isFromSteps = params.get('from') === 'overview';
  return useCallback((path) => navigate(isFromSteps ? '/' : path), [navigate, isFromSteps]);
}
