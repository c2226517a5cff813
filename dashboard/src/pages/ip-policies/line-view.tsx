import { useEffect, useRef, useState } from 'react';

const lineHeight = 20;
const spareLines = 20;

/** A long text with its line numbers: only the lines near what is seen exist. */
export function LineView({
  lines,
  badLines,
  goTo,
}: {
  readonly lines: readonly string[];
  readonly badLines: ReadonlySet<number>;
  /** The line that is to be seen, from 1 on. */
  readonly goTo: { readonly line: number } | undefined;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => {
    if (goTo !== undefined) frame.current?.scrollTo({ top: Math.max(0, (goTo.line - 4) * lineHeight) });
  }, [goTo]);
  const from = Math.max(0, Math.floor(top / lineHeight) - spareLines);
  const to = Math.min(lines.length, from + 2 * spareLines + 16);
  return (
    <div
      className="lines list-view"
      ref={frame}
      role="region"
      aria-label={`Your list, ${lines.length} lines`}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- whoever has no mouse scrolls it with the arrow keys
      tabIndex={0}
      style={{ '--from': from } as object}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <span className="block" style={{ height: from * lineHeight }} />
      {lines.slice(from, to).map((text, offset) => (
        // oxlint-disable-next-line react/no-array-index-key -- a line is known by its number
        <div key={from + offset} className={lineClass(text, badLines.has(from + offset + 1))}>
          {text}
        </div>
      ))}
      <span className="block" style={{ height: (lines.length - to) * lineHeight }} />
    </div>
  );
}

function lineClass(text: string, isBad: boolean): string {
  if (isBad) return 'bad';
  return text.trimStart().startsWith('#') ? 'c' : '';
}
