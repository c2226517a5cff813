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

const needsKey = 'gatehouse.put-away-needs';

interface PutAwayNeeds {
  /** Whether it was put away today, and is no worse since. */
  readonly has: (key: string, level: number) => boolean;
  readonly put: (key: string, level: number) => void;
  readonly bringBack: () => void;
}

/** Things that were put away in this browser until tomorrow, each with how bad it was. */
export function usePutAwayNeeds(): PutAwayNeeds {
  const [levels, setLevels] = useState(readLevels);
  const keep = (next: Readonly<Record<string, number>>): void => {
    localStorage.setItem(needsKey, JSON.stringify({ day: new Date().toDateString(), levels: next }));
    setLevels(next);
  };
  return {
    has: (key, level) => level <= (levels[key] ?? -Infinity),
    put: (key, level) => keep({ ...levels, [key]: level }),
    bringBack: () => keep({}),
  };
}

function readLevels(): Readonly<Record<string, number>> {
  // Only `keep` writes it.
  const kept = JSON.parse(localStorage.getItem(needsKey) ?? '{}') as {
    readonly day?: string;
    readonly levels?: Readonly<Record<string, number>>;
  };
  return kept.day === new Date().toDateString() ? (kept.levels ?? {}) : {};
}
