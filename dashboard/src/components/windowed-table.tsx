import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';

import { isOnControl } from './table.tsx';

export interface WindowColumn<Row> {
  readonly id: string;
  /** Empty for a column of buttons. */
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Fixed, because widths cannot follow rows that do not exist. */
  readonly width?: string;
  readonly className?: string;
}

/** Height of every row in pixels until one is measured; `--row-dense` of the design. */
const usualRowHeight = 30;
const headHeight = 32;
/** Rows above and below those that are seen. */
const spareRows = 16;

/**
 * A table of any length in a window of its own: only the rows near what is seen exist, between two spacers. `rowCount` may be
 * larger than what was read: the missing rows are drawn as skeletons.
 */
export function WindowedTable<Row>({
  label,
  columns,
  rows,
  rowCount,
  keyOf,
  hrefOf,
  onSeen,
}: {
  readonly label: string;
  readonly columns: readonly WindowColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowCount: number;
  readonly keyOf: (row: Row) => string;
  /** Where a row leads. */
  readonly hrefOf?: (row: Row) => string;
  readonly onSeen?: (first: number, last: number, count: number) => void;
}) {
  const [, navigate] = useLocation();
  const frame = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [rowHeight, setRowHeight] = useState(usualRowHeight);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const measure = (): void => setScroll({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, []);

  // Rows are higher on a narrow screen, where fingers need more room.
  useLayoutEffect(() => {
    const row = frame.current?.querySelector('tbody tr[aria-rowindex]');
    const measured = row?.getBoundingClientRect().height ?? rowHeight;
    if (Math.abs(measured - rowHeight) > 0.1) setRowHeight(measured);
  }, [rowHeight, rowCount, rows, scroll]);
  // A filter may have left fewer rows than were scrolled past.
  const firstSeen = Math.min(Math.floor(scroll.top / rowHeight), Math.max(0, rowCount - 1));
  const lastSeen = Math.min(rowCount, Math.ceil((scroll.top + scroll.height - headHeight) / rowHeight));
  useEffect(() => {
    if (rowCount > 0) onSeen?.(Math.min(firstSeen + 1, rowCount), lastSeen, rowCount);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the caller's function may be a new one each time
  }, [firstSeen, lastSeen, rowCount]);

  const from = Math.max(0, firstSeen - spareRows);
  const to = Math.min(rowCount, lastSeen + spareRows);
  return (
    <div
      className="window"
      ref={frame}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- whoever has no mouse scrolls it with the arrow keys
      tabIndex={0}
      role="region"
      aria-label={label}
      data-row-count={rowCount}
      data-row-height={rowHeight}
    >
      <table className="tbl dense" aria-label={label} aria-rowcount={rowCount + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ id, head, width, className }) => (
              <th key={id} scope="col" className={className} style={width === undefined ? undefined : { width }}>
                {head === '' ? <span className="vh">Actions</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={from * rowHeight} />
          {Array.from({ length: to - from }, (_, offset) => {
            const index = from + offset;
            const row = rows[index];
            const href = row === undefined ? undefined : hrefOf?.(row);
            return (
              <tr
                key={row === undefined ? index : keyOf(row)}
                aria-rowindex={index + 2}
                data-href={href}
                onClick={(event) => {
                  if (href !== undefined && !isOnControl(event.target)) navigate(href);
                }}
              >
                {columns.map((column) => (
                  <td key={column.id} className={column.className}>
                    {row === undefined ? <span className="skel" /> : column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Spacer height={(rowCount - to) * rowHeight} />
        </tbody>
      </table>
    </div>
  );
}

const frameSelector = 'main .window';

/** How many rows the long list of the page has; 0 where there is none. */
export function rowsInWindow(): number {
  return Number(document.querySelector<HTMLElement>(frameSelector)?.dataset['rowCount'] ?? 0);
}

/** Brings a row of the long list of the page to the top of its window; the first is 1. */
export function scrollToRow(row: number): void {
  const frame = document.querySelector<HTMLElement>(frameSelector);
  frame?.scrollTo({ top: (row - 1) * Number(frame.dataset['rowHeight']) });
}

/** One cell only: a cell for each column would bring hidden columns back. */
function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr className="spacer" aria-hidden="true">
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- it is no control, and hidden */}
      <td style={{ height }} />
    </tr>
  );
}
