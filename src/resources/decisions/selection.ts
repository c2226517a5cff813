import type { Call } from '../../api/call.ts';
import type { AnyOf, DecisionFilter, Selection } from '../../decisions/messages.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { ResourceContext } from '../resource.ts';
import { agentTunnels } from '../tunnels/service.ts';
import { bad, readBefore, readSource, readStatus, readTime, readVerdict } from './read-filter.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const steps = [1, 5, 15, 60, 180, 360, 1_440].map((minutes) => minutes * minuteMs);
/** Intervals that one answer may have, and those that it has at the most where no step is given. */
const mostPoints = 1_000;
const usualPoints = 180;
/** Edges, routes and restrictions that decide by one policy. */
const mostReferrers = 200;
/** Tunnels of one agent. */
const mostTunnels = 100;

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Reads what a question is of, but for its time and page; whatever selects nothing for sure is refused. */
export async function readSelection(context: ResourceContext, call: Call): Promise<Selection> {
  const { caller, filters } = call;
  const { accountId } = caller;
  const { policy_id: policyId, tunnel_session_id: sessionId } = filters;
  if (policyId !== undefined && sessionId !== undefined)
    throw bad('tunnel_session_id', sessionId, 'it cannot be given beside policy_id: ask for them one by one');
  const anyOf =
    policyId !== undefined
      ? await decidedBy(context, accountId, policyId)
      : sessionId === undefined
        ? undefined
        : await servedBy(context, accountId, sessionId);
  return {
    accountId,
    edgeId: await recordedAs(context, accountId, filters['edge_id']),
    routeId: filters['route_id'],
    backendId: await recordedAs(context, accountId, filters['backend_id']),
    rule: filters['restriction_id'],
    module: filters['module'],
    source: readSource(filters['source']),
    verdict: readVerdict(filters['verdict']),
    person: filters['person'],
    host: filters['host'],
    status: readStatus(filters['status']),
    anyOf,
  };
}

/** Reads what a page of decisions is asked for by. */
export async function readDecisionFilter(context: ResourceContext, call: Call): Promise<DecisionFilter> {
  const { page, filters } = call;
  const untilMs = readTime(filters['until']);
  return {
    ...(await readSelection(context, call)),
    limit: page.limit,
    ...readBefore(page.beforeId),
    fromMs: readTime(filters['since']),
    // Times are shown in whole seconds, and the last one counts.
    toMs: untilMs === undefined ? undefined : untilMs + 1000,
    requestId: filters['request_id'],
  };
}

/** Edges, routes, endpoints and restrictions that name an IP policy. */
async function decidedBy(
  { store, referables }: ResourceContext,
  accountId: string,
  policyId: string,
): Promise<readonly AnyOf[]> {
  const policy = referables.find('ip_policy', policyId);
  if (policy === undefined || !(await policy.exists(store.queries, accountId, policyId)))
    throw bad('policy_id', policyId, 'this account has no such IP policy');
  const referrers = await policy.referrersOf(store.queries, policyId);
  const anyOf = referrers.flatMap((key) => {
    const dimension = dimensionOf(key);
    return dimension === undefined ? [] : [{ dimension, key }];
  });
  if (anyOf.length > mostReferrers)
    throw bad(
      'policy_id',
      policyId,
      `more than ${mostReferrers} edges, routes and restrictions name it: ask for them one by one`,
    );
  return anyOf;
}

/** Endpoints and groups of labels that the agent of a session serves, alone or with others. */
async function servedBy(
  { store, services }: ResourceContext,
  accountId: string,
  sessionId: string,
): Promise<readonly AnyOf[]> {
  const served = await services.get(agentTunnels).recordedOfSession(store.queries, accountId, sessionId, mostTunnels);
  if (served === undefined)
    throw bad('tunnel_session_id', sessionId, 'no agent of this account is connected with such a session');
  if (served === 'too_many')
    throw bad('tunnel_session_id', sessionId, `it has more than ${mostTunnels} tunnels: ask for them by edge_id`);
  return served;
}

/** An endpoint of an agent has an id of its own, and decisions name what the gateway has for it. */
async function recordedAs(
  { store, services }: ResourceContext,
  accountId: string,
  id: string | undefined,
): Promise<string | undefined> {
  if (id === undefined || !hasPrefix(id, 'ep')) return id;
  const recorded = await services.get(agentTunnels).recordedOfEndpoint(store.queries, accountId, id);
  return recorded?.key ?? id;
}

function dimensionOf(id: string): AnyOf['dimension'] | undefined {
  if (hasPrefix(id, 'edghtsrt')) return 'route';
  if (hasPrefix(id, 'ipx')) return 'restriction';
  return ['edghts', 'edgtcp', 'edgtls', 'ep'].some((prefix) => hasPrefix(id, prefix)) ? 'edge' : undefined;
}

/** Reads a range of time; without one it is the last hour. */
export function readRange({ filters }: Call, nowMs: number): Range {
  const { since, until } = filters;
  const untilMs = readTime(until);
  // What is to come has no counts yet.
  const toMs = untilMs === undefined ? nowMs : Math.min(nowMs, untilMs + 1000);
  const fromMs = readTime(since) ?? toMs - hourMs;
  if (fromMs < 0) throw bad('since', String(since), 'it is before 1970');
  if (fromMs >= toMs) throw bad('since', String(since ?? until), 'it is not before until, or not in the past');
  return { fromMs, toMs };
}

/** Reads a range and its intervals; the range is widened to whole ones. */
export function readIntervals(call: Call, nowMs: number): Range & { readonly stepMs: number } {
  const { fromMs, toMs } = readRange(call, nowMs);
  const { step } = call.filters;
  const stepMs = step === undefined ? stepFor(toMs - fromMs) : readStep(step);
  const from = fromMs - (fromMs % stepMs);
  const to = Math.ceil(toMs / stepMs) * stepMs;
  if ((to - from) / stepMs > mostPoints) {
    const least = stepFor(toMs - fromMs, mostPoints - 1) / 1000;
    throw bad(
      'step',
      step ?? '',
      `the range has more than ${mostPoints} of them: give ${least} or more, or a shorter range`,
    );
  }
  return { fromMs: from, toMs: to, stepMs };
}

function stepFor(rangeMs: number, most = usualPoints): number {
  const known = steps.find((each) => rangeMs / each <= most);
  return known ?? Math.ceil(rangeMs / most / dayMs) * dayMs;
}

function readStep(text: string): number {
  const stepMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : 0;
  if (stepMs === 0 || stepMs % minuteMs !== 0)
    throw bad('step', text, 'a step is a number of seconds that are whole minutes, such as 60 or 3600');
  return stepMs;
}
