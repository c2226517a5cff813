import { infiniteQueryOptions, keepPreviousData, QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { operations } from '../../../client/src/index.ts';
import type { CallInput, Entry, ListId, OperationId, Operations, Reply } from '../../../client/src/index.ts';
import { pollEvery } from '../lib/activity.ts';
import { asCallError, client } from './client.ts';
import { isLost, onConnection } from './connection.ts';
import { rowsPerCall } from './page-size.ts';
import { rereadSession } from './session.ts';
import type { CallError } from './client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The client repeats once by itself, and the panel that shows an error tries again with a countdown.
      retry: false,
      staleTime: 10_000,
      refetchOnWindowFocus: true,
    },
  },
});

/** Reads again all that is shown, and how the server sees the caller. Called after every change. */
export function refreshAll(): void {
  void queryClient.invalidateQueries();
  void rereadSession();
}

// Shown data may be old when the server is back.
onConnection(() => {
  if (!isLost()) refreshAll();
});

type Document<Id extends OperationId> = Operations[Id]['response'];

/** Input without what a hook adds itself. */
type ReadInput<Id extends OperationId> = Pick<CallInput<Id>, 'path' & keyof CallInput<Id>> & {
  readonly query?: Operations[Id]['query'];
};

export interface Read<Value> {
  readonly data: Value | undefined;
  readonly error: CallError | undefined;
  /** Nothing has come yet. */
  readonly isLoading: boolean;
  readonly retry: () => void;
}

/** One document with its ETag. `enabled: false` waits. */
export function useOne<Id extends OperationId>(
  id: Id,
  input: ReadInput<Id> & { readonly body?: Operations[Id]['body'] },
  options: { readonly enabled?: boolean; readonly refreshMs?: number } = {},
): Read<Reply<Document<Id>>> & { readonly reread: () => Promise<Reply<Document<Id>>> } {
  const result = useQuery({
    queryKey: [id, input],
    // The input is that of the operation, which generics cannot follow.
    queryFn: ({ signal }) => client.reply(id, ...([{ ...input, signal }] as unknown as [CallInput<Id>])),
    enabled: options.enabled ?? true,
    ...(options.refreshMs === undefined ? {} : { refetchInterval: pollEvery(options.refreshMs) }),
  });
  const { refetch } = result;
  const reread = useCallback(async () => {
    const { data, error } = await refetch();
    if (data === undefined) throw error ?? new Error('Nothing was read.');
    return data;
  }, [refetch]);
  return { ...readOf(result), reread };
}

/** Ids in the path of an operation, by their names. */
export type PathIds = Readonly<Record<string, string>>;

export interface ListRead<Row> extends Read<readonly Row[]> {
  /** There are more rows on the server than were read. */
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** The rows are those of the query before. */
  readonly isOld: boolean;
  readonly loadMore: () => void;
}

/** Rows of a list, newest first, read page by page in the background until `wanted` are there. */
export function useList<Id extends ListId>(
  id: Id,
  options: {
    readonly query?: Operations[Id]['query'];
    /** Ids in the path of a list that belongs to another thing. */
    readonly path?: PathIds | undefined;
    readonly wanted?: number;
    readonly enabled?: boolean;
    /** Shows the rows of the query before until those of the new one are there. */
    readonly keepsRows?: boolean;
  } = {},
): ListRead<Entry<Id>> {
  const { query = {}, path, wanted = 1000, enabled = true, keepsRows = false } = options;
  const [extra, setExtra] = useState(0);
  const result = useInfiniteQuery({
    ...listOptions(id, query, path),
    enabled,
    ...(keepsRows ? { placeholderData: keepPreviousData } : {}),
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = result;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows), [data]);
  const target = wanted + extra;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError && (rows?.length ?? 0) < target) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, rows, target, fetchNextPage]);
  return {
    ...readOf({ ...result, data: rows }),
    hasMore: hasNextPage,
    isLoadingMore: hasNextPage && (rows?.length ?? 0) < target,
    isOld: result.isPlaceholderData,
    loadMore: () => setExtra((count) => count + 1000),
  };
}

/** Puts the first rows of a list where `useList` looks first. */
export function prefetchList(id: ListId): void {
  void queryClient.prefetchInfiniteQuery(listOptions(id, {}));
}

/** The rows of a list as far as they were read, or its first ones. */
export async function readList<Id extends ListId>(id: Id): Promise<readonly Entry<Id>[]> {
  const { pages } = await queryClient.fetchInfiniteQuery(listOptions(id, {}));
  return pages.flatMap(({ rows }) => rows);
}

function listOptions<Id extends ListId>(id: Id, query: Operations[Id]['query'], path?: PathIds) {
  return infiniteQueryOptions({
    queryKey: [id, 'list', query, ...(path === undefined ? [] : [path])],
    queryFn: async ({ pageParam, signal }) => {
      const input = {
        ...(path === undefined ? {} : { path }),
        query: { ...query, limit: rowsPerCall, ...(pageParam === '' ? {} : { before_id: pageParam }) },
        signal,
      };
      // Every list takes a limit and a cursor, and answers a page.
      const page = (await client.call(id, ...([input] as unknown as [CallInput<Id>]))) as unknown as Page;
      return { rows: page[operations[id].list ?? ''] as Entry<Id>[], next: cursorOf(page.next_page_uri) };
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
}

type Page = Readonly<Record<string, unknown>> & { readonly next_page_uri: string | null };

function cursorOf(uri: string | null): string | undefined {
  return uri === null ? undefined : (new URL(uri, location.origin).searchParams.get('before_id') ?? undefined);
}

/** Whatever is not one document of one operation, by a key of its own. `refreshMs` reads it again and again. */
export function useRead<Value>(
  key: readonly unknown[],
  read: (signal: AbortSignal) => Promise<Value>,
  options: { readonly enabled?: boolean; readonly refreshMs?: number } = {},
): Read<Value> {
  const result = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(signal),
    enabled: options.enabled ?? true,
    ...(options.refreshMs === undefined ? {} : { refetchInterval: pollEvery(options.refreshMs) }),
    placeholderData: keepPreviousData,
  });
  return readOf(result);
}

function readOf<Value>(result: {
  data: Value | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => unknown;
}): Read<Value> {
  return {
    data: result.data,
    error: result.error === null || result.error === undefined ? undefined : asCallError(result.error),
    isLoading: result.isPending,
    retry: () => void result.refetch(),
  };
}

export interface Act<Args extends readonly unknown[], Value> {
  /** Resolves with undefined where the call failed; `error` says why. */
  readonly run: (...args: Args) => Promise<Value | undefined>;
  readonly isPending: boolean;
  readonly error: CallError | undefined;
  readonly reset: () => void;
}

/** Something that changes the server. All that is shown is read again afterwards. */
export function useAct<Args extends readonly unknown[], Value>(
  act: (...args: Args) => Promise<Value>,
): Act<Args, Value> {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<CallError>();
  const newest = useRef(act);
  useEffect(() => {
    newest.current = act;
  });
  const run = useCallback(async (...args: Args) => {
    setPending(true);
    setError(undefined);
    try {
      const value = await newest.current(...args);
      refreshAll();
      return value;
    } catch (failure) {
      setError(asCallError(failure));
      return undefined;
    } finally {
      setPending(false);
    }
  }, []);
  return { run, isPending, error, reset: useCallback(() => setError(undefined), []) };
}

export type Change<Id extends OperationId> = Act<[input: CallInput<Id>], Reply<Document<Id>>>;

/** A call of an operation that changes something. */
export function useChange<Id extends OperationId>(id: Id): Change<Id> {
  return useAct((input: CallInput<Id>) => client.reply(id, ...([input] as [CallInput<Id>])));
}
