import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';

import type { Decision, DecisionsPage } from '../../../../client/src/index.ts';
import { asCallError, client } from '../../api/client.ts';
import { rowsPerCall } from '../../api/page-size.ts';
import { queryClient } from '../../api/queries.ts';
import type { CallError } from '../../api/client.ts';
import { joinTold } from './join-told.ts';
import { isoSeconds } from '../../lib/picture-times.ts';
import { rangeMs, requestFilters } from '../../parts/past-requests.ts';
import type { Range } from '../../parts/past-requests.ts';

export interface Decisions {
  /** Newest first; undefined while nothing has come. */
  readonly rows: readonly Decision[] | undefined;
  /** Facts that the answers gave beside their rows. */
  readonly told: DecisionsPage | undefined;
  readonly error: CallError | undefined;
  readonly hasMore: boolean;
  readonly isReading: boolean;
  readonly readMore: () => void;
  /** Reads the newest ones again. */
  readonly readAgain: () => void;
}

/** Rows that are read before anybody asks for more. */
const readAtOnce = 200;
/** Calls that are made for them: each looks through very many decisions if few pass the filter. */
const callsAtOnce = 4;

/** Decisions that pass the filters of the URL, read page by page. */
export function useDecisions(params: URLSearchParams): Decisions {
  const options = decisionOptions(filterOf(params), rangeOf(params));
  const [wanted, setWanted] = useState({ rows: readAtOnce, calls: callsAtOnce });
  const { data, error, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery(options);
  const pages = data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ decisions }) => decisions), [pages]);
  const told = useMemo(() => joinTold(pages ?? []), [pages]);
  const count = rows?.length ?? 0;
  const calls = pages?.length ?? 0;
  const goesOn = hasNextPage && !isError && count < wanted.rows && calls < wanted.calls;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  return {
    rows,
    told,
    error: error === null ? undefined : asCallError(error),
    hasMore: hasNextPage,
    isReading: isFetching || goesOn,
    readMore: () => {
      setWanted({ rows: count + readAtOnce, calls: calls + callsAtOnce });
      if (isError) void fetchNextPage();
    },
    readAgain: () => {
      setWanted({ rows: readAtOnce, calls: callsAtOnce });
      void queryClient.resetQueries({ queryKey: options.queryKey });
    },
  };
}

type Filter = Readonly<Record<string, string>>;

function decisionOptions(filter: Filter, range: Range | undefined) {
  return infiniteQueryOptions({
    queryKey: ['DecisionsList', 'pages', filter, range],
    queryFn: async ({ pageParam: { since, before }, signal }) => {
      const from = since ?? (range === undefined ? undefined : isoSeconds(Date.now() - rangeMs[range]));
      const query = {
        ...(from === undefined ? {} : { since: from }),
        ...filter,
        ...(before === undefined ? {} : { before_id: before }),
        limit: rowsPerCall,
      };
      return { ...(await client.call('DecisionsList', { query, signal })), since: from };
    },
    initialPageParam: firstPage,
    getNextPageParam: ({ next_page_uri: uri, since }): PageParam | undefined => {
      const before = uri === null ? undefined : new URL(uri, location.origin).searchParams.get('before_id');
      return before === null || before === undefined ? undefined : { since, before };
    },
    // What has happened stays as it is, and reading many pages again would cost the gateways much.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
}

const firstPage: PageParam = {};

interface PageParam {
  readonly since?: string | undefined;
  readonly before?: string;
}

/** The part of the URL that the server filters by, under its names. */
function filterOf(params: URLSearchParams): Filter {
  return Object.fromEntries(
    Object.entries(requestFilters).flatMap(([name, parameter]) => {
      const value = params.get(name) ?? '';
      return value === '' ? [] : [[parameter, value]];
    }),
  );
}

/** The time that ends now, unless the URL gives a time of its own. */
function rangeOf(params: URLSearchParams): Range | undefined {
  const range = params.get('range');
  if (params.has('since') || params.has('until')) return undefined;
  return range === 'hour' || range === 'day' || range === 'week' ? range : undefined;
}
