import { useMemo } from 'react';
import type { ReactNode } from 'react';

import type { Entry, ListId } from '../../../client/src/index.ts';
import type { PathIds } from '../api/queries.ts';
import { countOf, formatNumber } from '../lib/text.ts';
import { useUrlState } from '../lib/url-state.ts';
import { Button } from './button.tsx';
import { FilterChoice } from './filter-choice.tsx';
import type { IconName } from './icon.tsx';
import { rowsOnPage, useSearch } from './list-search.ts';
import type { ChoiceFilter, Search } from './list-search.ts';
import { SelectionBar, useSelection } from './selection.tsx';
import { Empty, ErrorState } from './states.tsx';
import { Table } from './table.tsx';
import type { Column, Sort } from './table.tsx';

interface RowsProps<Id extends ListId> extends Search<Entry<Id>> {
  readonly list: Id;
  /** Ids in the path of a list that belongs to another thing. */
  readonly below?: PathIds | undefined;
  /** One and many: "key", "keys". */
  readonly noun: readonly [one: string, many: string];
  readonly columns: readonly Column<Entry<Id>>[];
  readonly filterHint: string;
  readonly filters?: readonly ChoiceFilter<Entry<Id>>[];
  readonly keyOf: (row: Entry<Id>) => string;
  readonly hrefOf?: (row: Entry<Id>) => string;
  /** Order when the URL names none; newest first without it. */
  readonly defaultSort?: Sort;
  readonly icon: IconName;
  /** Said where there is nothing yet: what the thing is for, in a sentence, and the one button. */
  readonly whenEmpty: { readonly title: string; readonly text: string; readonly action?: ReactNode };
  readonly footNote?: ReactNode;
}

/** A list: filters, table, pages. Filter, order and page are in the URL. */
export function ListRows<Id extends ListId>(props: RowsProps<Id>) {
  const { noun, columns, filterHint, filters = [], keyOf, hrefOf, defaultSort, icon, whenEmpty } = props;
  const [params, setParams] = useUrlState();
  const selection = useSelection();
  const sortText = params.get('sort');
  const sort = useMemo(() => sortOf(sortText, defaultSort), [sortText, defaultSort]);
  const { read, rows, shown, page, pages, isFiltered, isOnServer } = useSearch({ ...props, filters, params, sort });
  const isPaged = isOnServer && read.hasMore;
  const clear = (): void => {
    setParams({ q: undefined, page: undefined, ...Object.fromEntries(filters.map(({ name }) => [name, undefined])) });
  };

  return (
    <section className="stack tight">
      <div className="bar">
        <input
          className="input"
          type="search"
          placeholder={filterHint}
          aria-label={`Filter ${noun[1]}`}
          aria-keyshortcuts="f"
          value={params.get('q') ?? ''}
          onChange={(event) => setParams({ q: event.target.value, page: undefined })}
        />
        {filters.map(({ name, label, options }) => (
          <FilterChoice key={name} name={name} label={label} options={Object.entries(options)} />
        ))}
        <span className="grow" />
        {selection.ids.size === 0 ? (
          <span className="muted" role="status">
            {countText(
              { read: read.data?.length, found: rows?.length, isFiltered, isOnServer, hasMore: read.hasMore },
              noun,
            )}
          </span>
        ) : (
          <SelectionBar selection={selection} noun={noun} />
        )}
      </div>
      <div className="panel flush">
        {read.error !== undefined && read.data === undefined ? (
          <ErrorState title={`The ${noun[1]} could not be read`} error={read.error} onRetry={read.retry} />
        ) : read.data?.length === 0 && !isFiltered ? (
          <Empty icon={icon} title={whenEmpty.title} action={whenEmpty.action}>
            {whenEmpty.text}
          </Empty>
        ) : rows?.length === 0 && !read.isLoadingMore ? (
          <Empty
            icon="filter"
            title={`No ${noun[0]} fits the filter`}
            action={<Button onClick={clear}>Clear the filter</Button>}
          />
        ) : (
          <Table
            label={noun[1]}
            columns={columns}
            rows={shown}
            keyOf={keyOf}
            {...(hrefOf === undefined ? {} : { hrefOf })}
            isSelected={(row) => selection.ids.has(keyOf(row))}
            onSelect={(row) => selection.toggle(keyOf(row))}
            sort={sort}
            onSort={(column) => setParams({ sort: nextSort(column, sort), page: undefined })}
          />
        )}
        <Foot
          page={page}
          pages={pages}
          total={rows?.length ?? 0}
          hasMore={isPaged}
          note={props.footNote}
          onPage={(next) => setParams({ page: next === 1 ? undefined : String(next) }, { push: true })}
          {...(read.hasMore && !read.isLoadingMore && !isPaged ? { onMore: read.loadMore } : {})}
        />
      </div>
    </section>
  );
}

function Foot({
  page,
  pages,
  total,
  hasMore,
  note,
  onPage,
  onMore,
}: {
  readonly page: number;
  readonly pages: number;
  readonly total: number;
  /** Pages follow that were not read. */
  readonly hasMore: boolean;
  readonly note: ReactNode;
  readonly onPage: (page: number) => void;
  readonly onMore?: () => void;
}) {
  if (pages === 1 && !hasMore && note === undefined && onMore === undefined) return null;
  const first = (page - 1) * rowsOnPage + 1;
  return (
    <footer>
      <span className="grow">{note}</span>
      {pages > 1 || hasMore ? (
        <>
          <span className="p1">
            {formatNumber(first)} to {formatNumber(Math.min(page * rowsOnPage, total))} of{' '}
            {hasMore ? 'more' : formatNumber(total)}
          </span>
          <Button small disabled={page === 1} onClick={() => onPage(page - 1)}>
            Previous
          </Button>
          <Button small disabled={page >= pages && !hasMore} onClick={() => onPage(page + 1)}>
            Next
          </Button>
        </>
      ) : null}
      {onMore === undefined ? null : (
        <Button small onClick={onMore}>
          Read older ones
        </Button>
      )}
    </footer>
  );
}

function countText(
  counts: {
    readonly read: number | undefined;
    readonly found: number | undefined;
    readonly isFiltered: boolean;
    readonly isOnServer: boolean;
    readonly hasMore: boolean;
  },
  [one, many]: readonly [string, string],
): string {
  const { read, found, isFiltered, isOnServer, hasMore } = counts;
  if (read === undefined || found === undefined) return '';
  if (isOnServer) return `${hasMore ? 'More than ' : ''}${countOf(found, one, many)}${isFiltered ? ' found' : ''}`;
  if (isFiltered) return `${formatNumber(found)} of ${hasMore ? 'the newest ' : ''}${countOf(read, one, many)}`;
  return hasMore ? `The newest ${countOf(read, one, many)}` : countOf(read, one, many);
}

/** In the URL: `-name` is descending, `name` ascending. */
function sortOf(text: string | null, fallback: Sort | undefined): Sort | undefined {
  if (text === null || text === '') return fallback;
  return text.startsWith('-')
    ? { column: text.slice(1), direction: 'descending' }
    : { column: text, direction: 'ascending' };
}

function nextSort(column: string, sort: Sort | undefined): string {
  return sort?.column === column && sort.direction === 'ascending' ? `-${column}` : column;
}
