import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';

import { Icon } from './icon.tsx';
import { useIsSlow } from './states.tsx';

/** Columns give way as the screen narrows: p4 below 1500 px, p3 below 1200, p2 below 768, p1 below 560. */
export type ColumnPriority = 'p1' | 'p2' | 'p3' | 'p4';

export interface Column<Row> {
  readonly id: string;
  /** Empty for a column of buttons, which is announced as "Actions". */
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Value that rows are ordered by; left out where order means nothing. */
  readonly sortBy?: (row: Row) => string | number;
  readonly priority?: ColumnPriority;
  /** Numbers stand right. */
  readonly isNumber?: boolean;
  /** Acts stand right. */
  readonly isRight?: boolean;
  /** As wide as its content. */
  readonly isNarrow?: boolean;
  /** Share of the width, for columns whose text is cut: "27%". */
  readonly width?: string;
}

export interface Sort {
  readonly column: string;
  readonly direction: 'ascending' | 'descending';
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while nothing has come. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  /** Where a row leads. */
  readonly hrefOf?: (row: Row) => string;
  readonly isSelected?: (row: Row) => boolean;
  /** A click with Ctrl or Cmd, which is also what the key `x` does. */
  readonly onSelect?: (row: Row) => void;
  /** Words above a run of rows that have them in common, such as a day. */
  readonly groupOf?: (row: Row) => string;
  readonly sort?: Sort | undefined;
  readonly onSort?: (column: string) => void;
  readonly dense?: boolean;
}

/** Rows with columns. `j` and `k` move in it, Enter opens: the links of its rows are `[data-row-link]`. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  hrefOf,
  isSelected,
  onSelect,
  groupOf,
  sort,
  onSort,
  dense = false,
}: TableProps<Row>) {
  const [, navigate] = useLocation();
  return (
    <table className={dense ? 'tbl dense' : 'tbl'} aria-label={label} aria-busy={rows === undefined}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.id} column={column} end={endClass(columns, column)} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows === undefined ? (
          <LoadingRows columns={columns} />
        ) : (
          rows.map((row, index) => {
            const href = hrefOf?.(row);
            const before = rows[index - 1];
            const group = groupOf?.(row);
            const isFirst = group !== undefined && (before === undefined || groupOf?.(before) !== group);
            return (
              <Fragment key={keyOf(row)}>
                {isFirst ? (
                  <tr className="group">
                    <td colSpan={columns.length}>{group}</td>
                  </tr>
                ) : null}
                <tr
                  data-href={href}
                  aria-selected={isSelected === undefined ? undefined : isSelected(row)}
                  onClick={(event) => {
                    if (isOnControl(event.target)) return;
                    if (onSelect !== undefined && (event.ctrlKey || event.metaKey)) onSelect(row);
                    else if (href !== undefined) navigate(href);
                  }}
                >
                  {columns.map((column) => (
                    <td
                      key={column.id}
                      className={`${cellClass(column)} ${endClass(columns, column)}`}
                      style={column.width === undefined ? undefined : { width: column.width }}
                    >
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
              </Fragment>
            );
          })
        )}
      </tbody>
    </table>
  );
}

/** A click on a link, a button or selected text means that, not the row. */
/** Whether a click is for something in the row that acts by itself, or marks text. */
export function isOnControl(target: EventTarget): boolean {
  if (target instanceof Element && target.closest('a, button, input, select, label') !== null) return true;
  return (getSelection()?.toString() ?? '') !== '';
}

function cellClass<Row>({ priority, isNumber, isRight, isNarrow, width }: Column<Row>): string {
  return [
    priority,
    isNumber === true ? 'num' : '',
    isRight === true ? 'right' : '',
    isNarrow === true ? 'min' : '',
    width === undefined ? '' : 'clip',
  ]
    .filter((name) => (name ?? '') !== '')
    .join(' ');
}

const priorities: readonly ColumnPriority[] = ['p1', 'p2', 'p3', 'p4'];

/** Names the widths at which the column is the last one that is seen, which has more room to its right. */
function endClass<Row>(columns: readonly Column<Row>[], column: Column<Row>): string {
  return priorities
    .filter((level) => columns.findLast(({ priority = '' }) => priority === '' || priority < level) === column)
    .map((level) => level.replace('p', 'end'))
    .join(' ');
}

function Head<Row>({
  column,
  end,
  sort,
  onSort,
}: {
  readonly column: Column<Row>;
  readonly end: string;
  readonly sort: Sort | undefined;
  readonly onSort: ((column: string) => void) | undefined;
}) {
  const { id, head, sortBy, priority, isNumber, isRight } = column;
  const isSorted = sort?.column === id;
  const className = [priority, end, isNumber === true ? 'num' : '', isRight === true ? 'right' : '']
    .filter((name) => (name ?? '') !== '')
    .join(' ');
  return (
    <th scope="col" className={className} aria-sort={isSorted ? sort.direction : undefined}>
      {head === '' ? <span className="vh">Actions</span> : null}
      {sortBy === undefined || onSort === undefined ? (
        head
      ) : (
        <button type="button" className="sort" onClick={() => onSort(id)}>
          {head}
          {isSorted ? <Icon name={sort.direction === 'ascending' ? 'up' : 'down'} /> : null}
        </button>
      )}
    </th>
  );
}

const loadingRows = [0, 1, 2, 3, 4];

/** Skeletons in the real columns, after a moment. */
function LoadingRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  const isSlow = useIsSlow();
  return loadingRows.map((row) => (
    <tr key={row}>
      {columns.map((column, index) => (
        <td key={column.id} className={cellClass(column)}>
          {isSlow && column.head !== '' ? (
            <span className="skel" style={{ width: `${40 + ((row * 13 + index * 29) % 45)}%` }} />
          ) : null}
        </td>
      ))}
    </tr>
  ));
}
