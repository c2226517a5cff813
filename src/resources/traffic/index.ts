import { Type } from 'typebox';

import type { EventSource } from '../../api/http/event-streams.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { defineError, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { LastError, LastRefusal } from '../../observe/traffic-health.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { EventExplainer } from './explain-event.ts';
import { watchedBackends } from '../static-backends/service.ts';
import { processes } from '../processes/service.ts';
import { TrafficEventView, TrafficHealthView, TrafficHistoryView } from './schema.ts';
import { traffic } from './service.ts';
import type { Traffic } from './service.ts';

const tooManyTrafficStreams = defineError(
  20178,
  429,
  'This account has {limit} streams of live traffic open, the most that it may have in one process. Close one; the operator can raise GATEHOUSE_TRAFFIC_STREAMS.',
);

const historyPath = '/traffic/history';
const healthPath = '/traffic/health';
const hourMs = 3_600_000;

function historyOperation({ services }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: historyPath,
    operationId: 'TrafficHistory',
    summary: 'Count the traffic of the last hour',
    description:
      'Traffic to the edges of this account, minute by minute, through the process that answers and its workers. The counts are in memory: after a restart they begin at zero.',
    tag: 'Traffic',
    query: [
      {
        name: 'edge_id',
        description:
          'Count in `buckets` only the traffic of this edge, or endpoint of an agent, without the times of its answers.',
        schema: Type.String({ examples: ['edghts_2tQzYDLwIVU45s8sSMNpRfQp1Ng'] }),
      },
    ],
    status: 200,
    response: TrafficHistoryView,
    errors: [],
    handle: async ({ caller, filters, uri }) => {
      const source = services.get(traffic);
      const { minutes, byEdge } = source.history(caller.accountId, filters['edge_id']);
      return {
        carries_traffic: source.isCarriedHere,
        buckets: minutes.map(({ startMs, p50Ms, p99Ms, ...counts }) => ({
          start: toTimestamp(startMs),
          ...counts,
          p50_ms: rounded(p50Ms),
          p99_ms: rounded(p99Ms),
        })),
        by_edge: byEdge.map(({ edgeId, ...counts }) => ({ edge_id: edgeId, ...counts })),
        uri: uri(historyPath),
      };
    },
  });
}

function healthOperation({ services }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: healthPath,
    operationId: 'TrafficHealth',
    summary: 'Show how edges, routes and backends do',
    description:
      'The state of each edge, route and backend of this account in the last hour, by what happened to its requests and connections in all processes of the installation. ' +
      'Other processes report every ten seconds, each about the 200 with the most errors and requests. The counts are in memory: after a restart they begin at zero. ' +
      'Static backends with several addresses, or with checks, are listed with what the gateways see of these addresses.',
    tag: 'Traffic',
    status: 200,
    response: TrafficHealthView,
    errors: [],
    handle: async ({ caller, uri }) => {
      const live = services.get(traffic);
      const carrying = (await services.get(processes).list()).filter(({ isSelf, role, status }) =>
        isSelf ? live.isCarriedHere : role !== 'api' && status?.health !== undefined,
      );
      const others = carrying.flatMap(({ isSelf, status }) => (isSelf ? [] : (status?.health ?? [])));
      const { things, hasLeftOut } = live.health(caller.accountId, others);
      const nowMs = Date.now();
      const startsMs = carrying.map(({ startedAt }) => Date.parse(startedAt));
      return {
        gateways: carrying.length,
        since: toTimestamp(Math.max(nowMs - hourMs, ...startsMs)),
        is_complete: !hasLeftOut,
        health: things.map(presentHealth),
        backends: await services.get(watchedBackends).ofAccount(caller.accountId),
        uri: uri(healthPath),
      };
    },
  });
}

function presentHealth({
  id,
  state,
  hour,
  recent,
  p95Ms,
  lastAtMs,
  lastError,
  lastRefusal,
  turnedAwayBy,
  logins,
}: ReturnType<Traffic['health']>['things'][number]) {
  const isOfThisHour = lastError !== undefined && hour.errors > 0;
  return {
    id,
    state,
    requests: hour.requests,
    turned_away: hour.turnedAway,
    turned_away_by: turnedAwayBy,
    last_refusal: lastRefusal && hour.turnedAway > 0 ? presentRefusal(lastRefusal) : undefined,
    logins: logins.begun + logins.back === 0 ? undefined : logins,
    errors: hour.errors,
    p95_ms: rounded(p95Ms),
    recent_requests: recent.requests,
    recent_errors: recent.errors,
    last_at: toTimestamp(lastAtMs),
    last_error: isOfThisHour ? presentError(lastError) : undefined,
  };
}

function presentRefusal({ atMs, source, ...refusal }: LastRefusal) {
  return { at: toTimestamp(atMs), ...refusal, client_ip: source };
}

function presentError({ atMs, ...error }: LastError) {
  return { at: toTimestamp(atMs), ...error };
}

function eventsOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/traffic/events',
    operationId: 'TrafficEvents',
    summary: 'Watch traffic as it happens',
    description:
      'Server-sent events for as long as the client stays: `request` and `connection`, each with a `TrafficEvent` as its data, ' +
      '`dropped` with the `count` of events that were left out because there were too many at once (those that were let ' +
      'through first), and `end` when the caller may no longer call. Only traffic of this account, through the process that ' +
      'answers and its workers; nothing that happened before. A comment comes every 15 seconds. A client that reads too ' +
      'slowly is disconnected.',
    tag: 'Traffic',
    status: 200,
    streams: true,
    response: Type.String({ description: 'Events, in the form of text/event-stream.' }),
    errors: [tooManyTrafficStreams],
    handle: async ({ caller }) => openEvents(context, caller.accountId),
  });
}

function openEvents(context: ResourceContext, accountId: string): EventSource {
  const { limit } = context.services.get(traffic);
  const subscription = context.services.get(traffic).subscribe(accountId);
  if (subscription === undefined) throw new UserError(tooManyTrafficStreams, { limit });
  const explainer = new EventExplainer(context);
  return {
    async take() {
      const { events, dropped } = subscription.take();
      const shown = [];
      for (const event of events) {
        const name = event.kind === 'https' ? 'request' : 'connection';
        shown.push({ event: name, data: await explainer.explain(event) });
      }
      if (dropped > 0) shown.push({ event: 'dropped', data: { count: dropped } });
      return shown;
    },
    [Symbol.dispose]() {
      subscription[Symbol.dispose]();
    },
  };
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms * 100) / 100;
}

/** Traffic through this process, as it happens and over the last hour. Nothing of it is stored. */
export const trafficResource: Resource = {
  errors: [tooManyTrafficStreams],
  migrations: [],
  schemas: [TrafficHistoryView, TrafficHealthView, TrafficEventView],
  operations: (context) => [historyOperation(context), healthOperation(context), eventsOperation(context)],
};
