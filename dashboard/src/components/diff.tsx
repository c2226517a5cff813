import { useMemo, useState } from 'react';

import { diffDocuments } from '../lib/diff.ts';
import type { DiffLine } from '../lib/diff.ts';
import { formatNumber } from '../lib/text.ts';
import { Button } from './button.tsx';

const classes = { same: '', add: 'add', del: 'del', gap: 'gap' } as const;
const words = { same: '', add: 'added: ', del: 'removed: ', gap: '' } as const;

/** Before and after of a document, line by line; `whole` also shows what is the same. */
export function Diff({
  before,
  after,
  whole = false,
}: {
  readonly before: unknown;
  readonly after: unknown;
  readonly whole?: boolean;
}) {
  const lines = useMemo(() => diffDocuments(before, after, whole), [before, after, whole]);
  return <DiffLines lines={lines} />;
}

/** Lines that are shown at first, and that each press of the button adds. */
const step = 20;
const furtherStep = 200;

/** Lines of any number: a part of them, and a button for more. */
export function LongDiff({ lines, label }: { readonly lines: readonly DiffLine[]; readonly label?: string }) {
  const [most, setMost] = useState(step);
  const left = lines.length - most;
  return (
    <>
      <DiffLines lines={lines.slice(0, most)} {...(label === undefined ? {} : { label })} />
      {left <= 0 ? null : (
        <footer>
          <Button small onClick={() => setMost(most + furtherStep)}>
            Show {formatNumber(Math.min(left, furtherStep))} of {formatNumber(left)} more
          </Button>
        </footer>
      )}
    </>
  );
}

export function DiffLines({
  lines,
  label = 'What changed',
}: {
  readonly lines: readonly DiffLine[];
  readonly label?: string;
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a diff may be wider than its place; whoever has no mouse scrolls it with the arrow keys
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no name of their own, and the list never changes in place
        <div key={index} className={classes[kind]}>
          {words[kind] === '' ? null : <span className="vh">{words[kind]}</span>}
          {text}
        </div>
      ))}
    </div>
  );
}
