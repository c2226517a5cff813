import { useSyncExternalStore } from 'react';

/** The first script of this tab; its name changes with the code of any page. */
const ownScript = document.querySelector('script[type="module"]')?.getAttribute('src') ?? '';

/** Whether the server answers, and with the code that this tab was loaded with or with another one. */
export async function askBuild(): Promise<'no answer' | 'same' | 'another'> {
  try {
    const response = await fetch('/dashboard/', { cache: 'no-store', headers: { accept: 'text/html' } });
    if (!response.ok) return 'no answer';
    return (await response.text()).includes(`"${ownScript}"`) ? 'same' : 'another';
  } catch {
    return 'no answer';
  }
}

let known: 'same' | 'another' = 'same';
const listeners = new Set<() => void>();

/** Looks whether the server has other code by now; without an answer, what is known stays. */
export async function lookAtBuild(): Promise<void> {
  const build = await askBuild();
  if (build === 'no answer' || build === known) return;
  known = build;
  for (const listener of listeners) listener();
}

export function useServerBuild(): 'same' | 'another' {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => known,
  );
}
