import { useState } from 'react';

const storageKey = 'gatehouse.put-away';

/** Whether this was put away today, in this browser, and a way to do so. Something else is not put away by it. */
export function usePutAway(what: string): readonly [isAway: boolean, putAway: () => void] {
  const [kept, setKept] = useState(() => localStorage.getItem(storageKey) ?? '');
  const mark = markOf(what);
  const putAway = (): void => {
    localStorage.setItem(storageKey, mark);
    setKept(mark);
  };
  return [kept === mark, putAway];
}

/** Another one each day. */
function markOf(what: string): string {
  return `${new Date().toDateString()} ${what}`;
}
