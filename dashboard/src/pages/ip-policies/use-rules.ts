import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

import type { IpPolicyRuleCounts, RulesOfPolicy } from '../../../../client/src/index.ts';
import { asCallError, client } from '../../api/client.ts';
import type { CallError } from '../../api/client.ts';
import { useOne } from '../../api/queries.ts';
import { sortByNetwork } from '../../lib/address.ts';
import { formatNumber } from '../../lib/text.ts';

export type Rule = RulesOfPolicy['rules'][number];

export interface Rules {
  readonly rules: readonly Rule[];
  /** How many the policy has, known before all are read; undefined until the first page is there. */
  readonly totals: { readonly allow: number; readonly deny: number } | undefined;
  /** ETag of the whole list, as of the first page. */
  readonly etag: string | undefined;
  readonly isComplete: boolean;
  readonly error: CallError | undefined;
  readonly retry: () => void;
  /** Reads the list again and resolves with its ETag. */
  readonly reread: () => Promise<void>;
}

/** All rules of a policy, read page by page in the background: the first ones are there at once. */
export function useRules(policyId: string): Rules {
  const { data, error, hasNextPage, isFetching, isError, fetchNextPage, refetch } = useInfiniteQuery(
    rulesOptions(policyId),
  );
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const isComplete = data !== undefined && !hasNextPage;
  // The server has them in the order of their texts. They do not change places while somebody looks at the first of many.
  const rules = useMemo(() => {
    const read = data?.pages.flatMap((page) => page.rules) ?? [];
    return isComplete ? sortByNetwork(read) : read;
  }, [data, isComplete]);
  const first = data?.pages[0];
  return {
    rules,
    totals: first?.totals,
    etag: first?.etag,
    isComplete,
    error: error === null ? undefined : asCallError(error),
    retry: () => void refetch(),
    reread: async () => {
      await refetch();
    },
  };
}

/** How many rules there are, once `useRules` has read the first of them. */
export function useRuleTotals(
  policyId: string,
): { readonly allow: number; readonly deny: number; readonly all: number } | undefined {
  const totals = useInfiniteQuery({ ...rulesOptions(policyId), enabled: false }).data?.pages[0]?.totals;
  return totals === undefined ? undefined : { ...totals, all: totals.allow + totals.deny };
}

type RuleCount = IpPolicyRuleCounts['counts'][number];

/** How many rules each policy of the list has; undefined until that is known, and for policies beyond the newest. */
export function useRuleCounts(): (policyId: string) => RuleCount | undefined {
  const counts = useOne('IpPolicyRuleCounts', {}).data?.document.counts;
  return useMemo(() => {
    const byId = new Map(counts?.map((count) => [count.ip_policy_id, count]));
    return (policyId) => byId.get(policyId);
  }, [counts]);
}

export function ruleCountText(count: RuleCount | undefined): string {
  if (count === undefined) return '';
  return count.has_more ? `${formatNumber(count.rules)}+` : formatNumber(count.rules);
}

function rulesOptions(policyId: string) {
  return infiniteQueryOptions({
    queryKey: ['IpPolicyRulesOfPolicy', policyId],
    queryFn: async ({ pageParam, signal }) => {
      const query = pageParam === '' ? {} : { after: pageParam };
      const { document, etag } = await client.reply('IpPolicyRulesOfPolicy', { path: { id: policyId }, query, signal });
      return { ...document, etag };
    },
    initialPageParam: '',
    getNextPageParam: ({ next_page_uri: uri }) =>
      uri === null ? undefined : (new URL(uri, location.origin).searchParams.get('after') ?? undefined),
  });
}
