import { useState } from 'react';

import { countOf } from '../lib/text.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { toast } from './toast.tsx';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly clear: () => void;
}

/** Rows of a list that somebody has picked out: `x`, or a click with Ctrl or Cmd. */
export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return {
    ids,
    toggle: (id) => setIds((before) => (before.has(id) ? before.difference(new Set([id])) : new Set([...before, id]))),
    clear: () => setIds(new Set()),
  };
}

/** How many rows are picked out, and what can be done with them. */
export function SelectionBar({
  selection: { ids, clear },
  noun: [one, many],
}: {
  readonly selection: Selection;
  readonly noun: readonly [one: string, many: string];
}) {
  const copy = async (): Promise<void> => {
    await copyText([...ids].join('\n'));
    toast(`Copied ${countOf(ids.size, 'id', 'ids')}.`);
  };
  return (
    <span className="row">
      <span role="status">{countOf(ids.size, one, many)} selected</span>
      <Button small onClick={() => void copy()}>
        {ids.size === 1 ? 'Copy its id' : 'Copy their ids'}
      </Button>
      <Button small look="ghost" onClick={clear}>
        Clear the selection
      </Button>
    </span>
  );
}
