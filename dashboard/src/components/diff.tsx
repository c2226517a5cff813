import { useMemo } from 'react';

import { diffDocuments } from '../lib/diff.ts';
import type { DiffLine } from '../lib/diff.ts';

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

export function DiffLines({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a diff may be wider than its place; whoever has no mouse scrolls it with the arrow keys
    <div className="diff" role="region" aria-label="What changed" tabIndex={0}>
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
