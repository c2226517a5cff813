import { isDeepStrictEqual } from 'node:util';

import type { Call } from '../../api/call.ts';
import type { Visitors } from '../../decisions/messages.ts';
import { UserError } from '../../errors/user-error.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { Pace } from '../../lib/pace.ts';
import { AccessTable } from '../../snapshot/access.ts';
import type { PolicyEntry, SnapshotEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import { keptDecisions } from '../decisions/service.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import { processes } from '../processes/service.ts';
import type { ResourceContext } from '../resource.ts';
import { visitedEntries } from '../visited-entries.ts';
import { openPlace } from '../visit-run.ts';
import type { MetRestriction, Place } from '../visit-run.ts';
import { loadEdge, policiesOf } from './change-set.ts';
import type { ChangeSet } from './change-set.ts';
import { compareVisit, sourceOf, visitOf } from './compare.ts';
import type { Side } from './compare.ts';
import { decisionsUnreadable } from './errors.ts';
import { Tally } from './tally.ts';

export const rehearsalLimits = {
  /** Edges with visits that are compared. */
  edges: 2_000,
  /** Edges that one question names. */
  edgesAtOnce: 200,
  /** Milliseconds for reading decisions, after which the answer has what is counted so far. */
  totalMs: 30_000,
};

interface Entries {
  readonly edges: Map<string, SnapshotEntry | undefined>;
  readonly policies: Map<string, PolicyEntry | undefined>;
  readonly restrictions: readonly MetRestriction[];
}

/** Counts for one rehearsal. */
class Counts {
  readonly refused = new Tally();
  readonly admitted = new Tally();
  readonly untold = new Tally();
  all = 0;
  firstMs = Infinity;
  readonly partial = new Set<string>();
}

/** Tells which visitors of the last days would get another verdict by a change. */
export async function rehearseChange(context: ResourceContext, call: Call, changes: ChangeSet, days: number) {
  const { services, store } = context;
  const { accountId, source } = call.caller;
  const kept = services.find(keptDecisions);
  const listed = await services.get(processes).list();
  const others = listed.filter(({ isSelf, role }) => !isSelf && role !== 'api' && role !== 'agents').length;
  const counts = new Counts();
  if (changes.isCut) counts.partial.add('The change touches more rules, edges or policies than are compared.');
  if (others > 0)
    counts.partial.add(`${others} more gateways keep decisions of their own, which are not counted here.`);
  const pace = new Pace(call.isAbandoned);
  const untilMs = performance.now() + rehearsalLimits.totalMs;
  const fromMs = Date.now() - days * 86_400_000;
  const edges = kept === undefined ? [] : await visitedEdges(context, call, fromMs, untilMs, counts);
  const now = await store.readSnapshot((queries) => readNow(context, queries, accountId, edges, changes, pace));
  const after = withChanges(now, changes);
  const affected = await affectedOf(edges, now, after, changes, pace);
  const sides = { before: await sideOf(now, pace), after: await sideOf(after, pace) };
  const since = await store.readSnapshot((queries) => lastChange(context, queries, accountId));
  for (const { withPaths, ids } of questions(affected, now, after, since)) {
    if (performance.now() > untilMs) {
      counts.partial.add(timeIsOver.edges);
      break;
    }
    let before: number | undefined;
    do {
      const asked = { accountId, fromMs, before, edgeIds: ids, since, withPaths };
      const read = await ask(context, (decisions) => decisions.ask('visitors', asked, call.isAbandoned));
      if (read === undefined) break;
      if (read.isCut) counts.partial.add('A file has more different visits than are compared.');
      const isWhole = await count(read, sides, counts, { withPaths, changes, pace, untilMs });
      before = read.cutAt;
      if (!isWhole || (before !== undefined && performance.now() > untilMs)) {
        counts.partial.add(timeIsOver.older);
        break;
      }
    } while (before !== undefined);
  }
  const { refused, admitted, untold } = counts;
  const noticed = refused.requests + admitted.requests + untold.requests;
  return {
    is_kept: kept !== undefined,
    since: counts.firstMs === Infinity ? null : new Date(counts.firstMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    requests: counts.all,
    newly_refused: await refused.present(counts.all, pace),
    newly_admitted: await admitted.present(counts.all, pace),
    cannot_tell: await untold.present(counts.all, pace),
    unchanged: Math.max(0, counts.all - noticed),
    you: await youOf(
      source,
      affected.map(({ id }) => id),
      sides,
      pace,
    ),
    is_partial: counts.partial.size > 0,
    partial: [...counts.partial],
  };
}

const timeIsOver = {
  edges: 'The time for a rehearsal is over: not every edge was counted.',
  older: 'The time for a rehearsal is over: older decisions were not counted.',
};

type Kept = NonNullable<ReturnType<typeof keptOf>>;
const keptOf = ({ services }: ResourceContext) => services.find(keptDecisions);

async function ask<Result>(
  context: ResourceContext,
  question: (kept: Kept) => Promise<Result>,
): Promise<Result | undefined> {
  const kept = keptOf(context);
  if (kept === undefined) return undefined;
  return question(kept).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'DecisionsUnreadable')
      throw new UserError(decisionsUnreadable, { 'retry-after': '5' });
    throw error;
  });
}

interface Visited {
  readonly id: string;
  readonly minVersion: number;
}

async function visitedEdges(
  context: ResourceContext,
  call: Call,
  fromMs: number,
  untilMs: number,
  counts: Counts,
): Promise<readonly Visited[]> {
  const { accountId } = call.caller;
  const found = new Map<string, { requests: number; minVersion: number }>();
  let before: number | undefined;
  do {
    const read = await ask(context, (kept) => kept.ask('edges', { accountId, fromMs, before }, call.isAbandoned));
    for (const { id, requests, minVersion } of read?.edges ?? []) {
      const known = found.get(id) ?? { requests: 0, minVersion: Infinity };
      found.set(id, { requests: known.requests + requests, minVersion: Math.min(known.minVersion, minVersion) });
      counts.all += requests;
    }
    counts.firstMs = Math.min(counts.firstMs, read?.firstMs ?? Infinity);
    before = read?.cutAt;
    if (before !== undefined && performance.now() > untilMs) {
      counts.partial.add(timeIsOver.older);
      break;
    }
  } while (before !== undefined);
  const most = [...found].toSorted(([, one], [, other]) => other.requests - one.requests);
  if (most.length > rehearsalLimits.edges)
    counts.partial.add(`Only the ${rehearsalLimits.edges} edges with most visits are counted.`);
  return most.slice(0, rehearsalLimits.edges).map(([id, { minVersion }]) => ({ id, minVersion }));
}

async function readNow(
  { services }: ResourceContext,
  queries: Queries,
  accountId: string,
  visited: readonly Visited[],
  changes: ChangeSet,
  pace: Pace,
): Promise<Entries> {
  const edges = new Map<string, SnapshotEntry | undefined>();
  for (const { id } of visited) {
    edges.set(id, await loadEdge(services, queries, accountId, id));
    if (pace.isDue) await pace.giveWay();
  }
  const restrictions = await services.get(ipRestrictionSearch).ofType(queries, accountId, 'endpoints');
  const names = new Set(
    [...restrictions, ...(changes.restrictions ?? [])].flatMap(({ ip_policy_ids }) => ip_policy_ids),
  );
  for (const entry of [...edges.values(), ...changes.edges.values()]) for (const id of policiesOf(entry)) names.add(id);
  for (const id of changes.policies.keys()) names.add(id);
  const policies = new Map<string, PolicyEntry | undefined>();
  const rules = services.get(ipPolicyRuleSearch);
  for (const id of names) {
    policies.set(id, await rules.entry(queries, id));
    if (pace.isDue) await pace.giveWay();
  }
  return { edges, policies, restrictions };
}

function withChanges(now: Entries, changes: ChangeSet): Entries {
  const edges = new Map(now.edges);
  for (const [id, entry] of changes.edges) if (edges.has(id)) edges.set(id, entry);
  return {
    edges,
    policies: new Map([...now.policies, ...changes.policies]),
    restrictions: changes.restrictions ?? now.restrictions,
  };
}

/** Edges to whose visitors a change can mean anything. */
async function affectedOf(
  edges: readonly Visited[],
  now: Entries,
  after: Entries,
  { policies }: ChangeSet,
  pace: Pace,
): Promise<readonly Visited[]> {
  const isNamed = (ids: Iterable<string>) => [...ids].some((id) => policies.has(id));
  if (!isDeepStrictEqual(summaryOf(now.restrictions), summaryOf(after.restrictions))) return edges;
  if (now.restrictions.some(({ ip_policy_ids }) => isNamed(ip_policy_ids))) return edges;
  const affected: Visited[] = [];
  for (const each of edges) {
    const [was, is] = [now.edges.get(each.id), after.edges.get(each.id)];
    if (!isDeepStrictEqual(was, is) || isNamed(policiesOf(was))) affected.push(each);
    if (pace.isDue) await pace.giveWay();
  }
  return affected;
}

function summaryOf(restrictions: readonly MetRestriction[]): readonly unknown[] {
  return restrictions.map(({ id, enforced, ip_policy_ids }) => [id, enforced, ip_policy_ids]);
}

async function sideOf({ edges, policies, restrictions }: Entries, pace: Pace): Promise<Side> {
  const access = new AccessTable();
  const set = [...policies.values()].filter((entry) => entry !== undefined);
  access.prepare({ version: 0, full: true, set, removed: [] }, () => {})();
  const places = new Map<string, Place | undefined>();
  for (const [id, entry] of edges) {
    places.set(id, entry && (await openPlace(entry, pace)));
    if (pace.isDue) await pace.giveWay();
  }
  return { places, restrictions, access };
}

/** The version of the last change that may have changed a verdict. */
async function lastChange({ services }: ResourceContext, queries: Queries, accountId: string): Promise<number> {
  const kinds = [
    ...services.all(visitedEntries).flatMap(({ changeKinds = [] }) => changeKinds),
    services.get(ipRestrictionSearch).changeKind,
    ...services.get(ipPolicyRuleSearch).changeKinds,
    'vault_secret',
    'vault',
    // Of clients, which edges ask for by its id.
    'certificate_authority',
  ];
  const places = kinds.map((_, at) => `$${at + 2}`).join(', ');
  const [row] = await queries.all(
    `SELECT version FROM change_log WHERE account_id = $1 AND kind IN (${places}) ORDER BY version DESC LIMIT 1`,
    [accountId, ...kinds],
  );
  if (row !== undefined) return Number(row[0]);
  // What the log does not have any more may have changed until its first entry.
  const [first] = await queries.all('SELECT version FROM change_log ORDER BY version LIMIT 1');
  return Number(first?.[0] ?? 0);
}

/** Edges in questions: those whose names, ports and routes matter apart from those where a route is certain. */
function questions(
  affected: readonly Visited[],
  now: Entries,
  after: Entries,
  since: number,
): readonly { readonly withPaths: boolean; readonly ids: readonly string[] }[] {
  const needsPaths = ({ id, minVersion }: Visited) =>
    minVersion < since ||
    !isPlain(now.edges.get(id)) ||
    !isDeepStrictEqual(wayTo(now.edges.get(id)), wayTo(after.edges.get(id)));
  const all: { withPaths: boolean; ids: readonly string[] }[] = [];
  for (const withPaths of [false, true]) {
    const ids = affected.filter((each) => needsPaths(each) === withPaths).map(({ id }) => id);
    for (let at = 0; at < ids.length; at += rehearsalLimits.edgesAtOnce)
      all.push({ withPaths, ids: ids.slice(at, at + rehearsalLimits.edgesAtOnce) });
  }
  return all;
}

/** Whether every visit of it takes the same way. */
function isPlain(entry: SnapshotEntry | undefined): boolean {
  return entry !== undefined && (entry.kind !== 'https_edge' || entry.routes.length === 1);
}

function wayTo(entry: SnapshotEntry | undefined): unknown {
  if (entry === undefined) return undefined;
  if (entry.kind === 'https_edge')
    return [entry.hostports, entry.routes.map(({ id, matchType, match }) => [id, matchType, match])];
  return entry.kind === 'tcp_edge' ? entry.ports : entry.kind === 'tls_endpoint' ? entry.names : undefined;
}

interface Counting {
  readonly withPaths: boolean;
  readonly changes: ChangeSet;
  readonly pace: Pace;
  readonly untilMs: number;
}

/** False where the time was over before all of them were counted. */
async function count(
  { facts, fact, high, low, requests, lastMs }: Visitors,
  { before, after }: { readonly before: Side; readonly after: Side },
  counts: Counts,
  { withPaths, changes, pace, untilMs }: Counting,
): Promise<boolean> {
  const policyIds = [...changes.policies.keys()].map((id) => [id]);
  const isSameRestrictions = isDeepStrictEqual(summaryOf(before.restrictions), summaryOf(after.restrictions));
  for (let at = 0; at < fact.length; at++) {
    if (pace.isDue) {
      if (performance.now() > untilMs) return false;
      await pace.giveWay();
    }
    const group = facts[fact[at] ?? 0];
    if (group === undefined) continue;
    const source = sourceOf(high[at] ?? 0n, low[at] ?? 0n);
    // Only rules change, and those that contain the address stay.
    if (
      isSameRestrictions &&
      !changes.edges.has(group.edgeId) &&
      policyIds.every(
        (id) =>
          before.access.allows(id, source) === after.access.allows(id, source) &&
          before.access.denies(id, source) === after.access.denies(id, source),
      )
    )
      continue;
    const visit = visitOf(group, source, withPaths, before.places.get(group.edgeId));
    const { effect, after: is } = compareVisit(before, after, group, visit);
    if (effect === 'same') continue;
    const gone = effect === 'newly_refused' && changes.hasNewEdges && after.places.get(group.edgeId) === undefined;
    const tally =
      gone || effect === 'cannot_tell' ? counts.untold : effect === 'newly_refused' ? counts.refused : counts.admitted;
    tally.add(group, source, is, requests[at] ?? 0, lastMs[at] ?? 0);
  }
  return true;
}

/** What would become of the caller's own address, at the first path of each edge. */
async function youOf(
  source: IpAddress,
  edgeIds: readonly string[],
  { before, after }: { readonly before: Side; readonly after: Side },
  pace: Pace,
) {
  const seen = { newly_refused: [] as string[], newly_admitted: [] as string[] };
  for (const edgeId of edgeIds) {
    if (pace.isDue) await pace.giveWay();
    const facts = { edgeId, routeId: '', person: '', module: '', isRefused: false, hasReached: false, method: 'GET' };
    const whole = { ...facts, host: '', port: 0, path: '/', isRecent: false };
    const { effect } = compareVisit(before, after, whole, visitOf(whole, source, false, undefined));
    if (effect === 'newly_refused' || effect === 'newly_admitted') seen[effect].push(edgeId);
  }
  return { newly_refused_at: seen.newly_refused, newly_admitted_at: seen.newly_admitted };
}
