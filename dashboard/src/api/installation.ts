import { useQuery } from '@tanstack/react-query';

import { ApiError } from '../../../client/src/index.ts';
import type { Gateways, TrafficHistory } from '../../../client/src/index.ts';
import { pollEvery } from '../lib/activity.ts';
import { shortId } from '../lib/text.ts';
import { client } from './client.ts';

export type Gateway = Gateways['gateways'][number];

/** The name of its machine, where the person is told; its id else. */
export function gatewayName({ host, id }: Gateway): string {
  return host ?? shortId(id);
}

/** A gateway that is further behind than this needs a person. */
const lagMs = 5000;

export function isBehind({ lag_ms: lag = 0 }: Gateway): boolean {
  return lag > lagMs;
}

export type TrafficBucket = TrafficHistory['buckets'][number];

const everyMs = 10_000;

/** Processes that serve traffic, and the newest version of the configuration; undefined until they are known. */
export function useGateways(): { readonly gateways: readonly Gateway[]; readonly version: number } | undefined {
  const { data, error } = useQuery({
    queryKey: ['GatewaysList'],
    queryFn: ({ signal }) => client.call('GatewaysList', { signal }),
    refetchInterval: pollEvery(everyMs),
  });
  // Data from before the server was lost is shown as old, by the whole page.
  if (data === undefined || error instanceof ApiError) return undefined;
  return { gateways: data.gateways.filter(({ role }) => role !== 'api'), version: data.configuration_version };
}

/**
 * The last hour in minutes, oldest first, of all edges or of one; undefined until it is known, and where the process carries
 * no traffic.
 */
export function useTrafficHistory(edgeId?: string): readonly TrafficBucket[] | undefined {
  const { data } = useQuery({
    queryKey: ['TrafficHistory', edgeId],
    queryFn: ({ signal }) =>
      client.call('TrafficHistory', { ...(edgeId === undefined ? {} : { query: { edge_id: edgeId } }), signal }),
    refetchInterval: pollEvery(everyMs),
  });
  return data?.carries_traffic === true ? data.buckets : undefined;
}
