import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { Id } from '../components/copy.tsx';
import type { Column, ColumnPriority } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { UnbrokenPort } from '../components/unbroken-port.tsx';

/** The first column: the name as a link, with the id below it, or what a narrow screen needs in its place. */
export function nameColumn<Row extends { readonly id: string }>({
  id = 'name',
  head,
  width,
  path,
  name,
  look = 'main',
  sub,
  badges,
}: {
  readonly id?: string;
  readonly head: string;
  readonly width: string;
  readonly path: string;
  readonly name: (row: Row) => string;
  readonly look?: 'main' | 'main mono';
  /** Shown on a narrow screen only. */
  readonly sub?: (row: Row) => ReactNode;
  readonly badges?: (row: Row) => ReactNode;
}): Column<Row> {
  const link = (row: Row): ReactNode => (
    <Link className={look} to={`${path}/${row.id}`} data-row-link>
      <UnbrokenPort text={name(row)} />
    </Link>
  );
  return {
    id,
    head,
    width,
    sortBy: (row) => name(row).toLowerCase(),
    cell: (row) => (
      <>
        {badges === undefined ? (
          link(row)
        ) : (
          <span className="row badged">
            {link(row)}
            {badges(row)}
          </span>
        )}
        {sub === undefined ? null : sub(row)}
        <span className="p1 id-line">
          <Id id={row.id} muted />
        </span>
      </>
    ),
  };
}

/** A moment, right of the others. */
export function timeColumn<Row>(head: string, at: (row: Row) => string, priority: ColumnPriority = 'p2'): Column<Row> {
  return {
    id: head.toLowerCase(),
    head,
    priority,
    isNumber: true,
    sortBy: at,
    cell: (row) => <Time at={at(row)} />,
  };
}

export function createdColumn<Row extends { readonly created_at: string }>(priority?: ColumnPriority): Column<Row> {
  return timeColumn('Created', ({ created_at: at }) => at, priority);
}

/** The first of several texts, and how many more there are. */
export function FirstOf({
  texts: [first, ...rest],
  none,
}: {
  readonly texts: readonly string[];
  readonly none: ReactNode;
}) {
  if (first === undefined) return none;
  return (
    <>
      <code className="main" title={[first, ...rest].join('\n')}>
        {first}
      </code>
      {rest.length === 0 ? null : <span className="sub">and {rest.length} more</span>}
    </>
  );
}
