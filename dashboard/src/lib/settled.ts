import { useEffect, useState } from 'react';

/** Longest wait in milliseconds of a page that is busy all the time. */
const longestWaitMs = 500;
let hasSettled = false;

/** False until the first view is drawn and the browser is idle: what stands beside a page is not asked for before the page. */
export function useHasSettled(): boolean {
  const [settled, setSettled] = useState(hasSettled);
  useEffect(() => {
    if (hasSettled) return undefined;
    return whenIdle(() => {
      hasSettled = true;
      setSettled(true);
    });
  }, []);
  return settled;
}

function whenIdle(act: () => void): () => void {
  // Safari has no such call.
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(act, longestWaitMs / 2);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(act, { timeout: longestWaitMs });
  return () => cancelIdleCallback(handle);
}
