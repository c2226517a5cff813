import { useMemo } from 'react';

import { operations } from '../../../client/src/index.ts';
import type { Entry, ListId } from '../../../client/src/index.ts';
import { useList } from '../api/queries.ts';
import type { ListRead, PathIds } from '../api/queries.ts';
import { useDebounced } from '../lib/debounced.ts';
import { allOf } from '../lib/filter.ts';
import type { Column, Sort } from './table.tsx';

export const rowsOnPage = 50;
/** Rows that are read of a list that is ordered by a column: the server knows only newest first. */
const sortedRows = 1000;
/** A filter that the server does not have looks at this many of the newest rows before it asks whether to go on. */
const searchedRows = 10_000;

/** A filter with a few values, in the URL under its name. */
export interface ChoiceFilter<Row> {
  readonly name: string;
  readonly label: string;
  /** Words by values. */
  readonly options: Readonly<Record<string, string>>;
  readonly matches: (row: Row, value: string) => boolean;
  /** Expression of the search for the server, where it has one. */
  readonly filter?: (value: string) => string;
}

/** Texts that the words of the search field are looked for in: on the server, or in rows that were read. */
export interface Search<Row> {
  /** An expression for the server that is true for rows with this word. */
  readonly searchFilter?: (word: string) => string;
  /** The text of a row, for lists whose texts the server cannot look at. */
  readonly searchText?: (row: Row) => string;
}

interface SearchProps<Id extends ListId> extends Search<Entry<Id>> {
  readonly list: Id;
  readonly below?: PathIds | undefined;
  readonly columns: readonly Column<Entry<Id>>[];
  readonly filters: readonly ChoiceFilter<Entry<Id>>[];
  readonly params: URLSearchParams;
  readonly sort: Sort | undefined;
}

export interface SearchedRows<Row> {
  readonly read: ListRead<Row>;
  /** All that were found so far, in order. */
  readonly rows: readonly Row[] | undefined;
  /** Rows of this page; undefined until they are there. */
  readonly shown: readonly Row[] | undefined;
  readonly page: number;
  readonly pages: number;
  readonly isFiltered: boolean;
  /** The server filters and pages; what was not found is not read. */
  readonly isOnServer: boolean;
}

/** Rows of a list as the URL asks for them. The server filters as far as it can, and gives as many pages as are looked at. */
export function useSearch<Id extends ListId>(props: SearchProps<Id>): SearchedRows<Entry<Id>> {
  const { list, below, columns, filters, params, sort, searchFilter, searchText } = props;
  const words = params.get('q') ?? '';
  const settledWords = useDebounced(words);
  const active = filters.filter(({ name }) => params.has(name));
  const isOnServer = operations[list].query.includes('filter');
  const byServer = isOnServer ? searchFilter : undefined;
  const isHere =
    (byServer === undefined && words !== '') || active.some((each) => !isOnServer || each.filter === undefined);
  const expression = allOf([
    ...(byServer === undefined ? [] : wordsOf(settledWords).map(byServer)),
    ...active.flatMap(({ name, filter }) => (isOnServer && filter ? [filter(params.get(name) ?? '')] : [])),
  ]);
  const asked = Math.max(1, Math.floor(Number(params.get('page') ?? '1')) || 1);
  const read = useList(list, {
    path: below,
    ...(expression === undefined ? {} : { query: { filter: expression } }),
    wanted: isHere ? searchedRows : sort === undefined ? Math.min(asked * rowsOnPage, searchedRows) : sortedRows,
    keepsRows: true,
  });

  const found = useMemo(() => {
    const here = byServer === undefined ? wordsOf(words.toLowerCase()) : [];
    const textOf = searchText ?? (() => '');
    return read.data?.filter((row) => {
      const text = here.length === 0 ? '' : textOf(row).toLowerCase();
      return (
        here.every((word) => text.includes(word)) &&
        filters.every(({ name, matches }) => {
          const value = params.get(name);
          return value === null || matches(row, value);
        })
      );
    });
  }, [read.data, byServer, words, searchText, filters, params]);
  const rows = useMemo(() => sortRows(found, columns, sort), [found, columns, sort]);

  const pages = Math.max(1, Math.ceil((rows?.length ?? 0) / rowsOnPage));
  const isWaiting = asked > pages && read.isLoadingMore;
  const page = isWaiting ? asked : Math.min(asked, pages);
  return {
    read,
    rows,
    shown: isWaiting ? undefined : rows?.slice((page - 1) * rowsOnPage, page * rowsOnPage),
    page,
    pages,
    isFiltered: words !== '' || settledWords !== '' || active.length > 0 || read.isOld,
    isOnServer: !isHere && sort === undefined,
  };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Numbers in texts count as numbers: 60.0.10.0 comes behind 60.0.9.0. */
const { compare: inOrder } = new Intl.Collator(undefined, { numeric: true });

function sortRows<Row>(
  rows: readonly Row[] | undefined,
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] | undefined {
  const sortBy = columns.find(({ id }) => id === sort?.column)?.sortBy;
  if (rows === undefined || sortBy === undefined) return rows;
  const factor = sort?.direction === 'descending' ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [sortBy(one), sortBy(other)];
    return factor * (typeof a === 'string' && typeof b === 'string' ? inOrder(a, b) : a < b ? -1 : a > b ? 1 : 0);
  });
}
