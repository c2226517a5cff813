import { useEffect, useState } from 'react';

/** Time in milliseconds without a key after which a search begins. */
const pauseMs = 200;

/** The value as it was when it last stood still for a moment. */
export function useDebounced(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
