import { createContext, use, useEffect } from 'react';

/** Sets the name of the one thing that is open, or undefined. */
export const CrumbContext = createContext<(name: string | undefined) => void>(() => undefined);

/** Puts the name of the open thing into the top bar and the title of the window. */
export function useCrumb(name: string | undefined): void {
  const set = use(CrumbContext);
  useEffect(() => {
    set(name);
    return () => set(undefined);
  }, [name, set]);
}
