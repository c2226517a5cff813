import { referencedIds } from '../../modules/index.ts';
import type { PolicyEntry, SnapshotEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Change } from '../../store/write/change-log.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { Pace } from '../../lib/pace.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { Services } from '../services.ts';
import { visitedEntries } from '../visited-entries.ts';
import type { MetRestriction } from '../visit-run.ts';

/** Most edges and policies that one change is compared for, and how long reading them may keep writes of others waiting. */
export const changeSetLimits = { changed: 1_000, heldMs: 1_000 };

class HeldTooLong extends Error {
  override readonly name = 'HeldTooLong';
}

/** What a change makes of edges, policies and restrictions, where it touches them; undefined: it goes. */
export interface ChangeSet {
  readonly edges: ReadonlyMap<string, SnapshotEntry | undefined>;
  readonly policies: ReadonlyMap<string, PolicyEntry | undefined>;
  /** Undefined where not all policies were read: a restriction that names another one would refuse everybody. */
  readonly restrictions: readonly MetRestriction[] | undefined;
  readonly hasNewEdges: boolean;
  /** It touches more than is compared. */
  readonly isCut: boolean;
}

/** Reads what a write has made, inside of its transaction: the writes of others wait for that. */
export async function readChangeSet(
  services: Services,
  queries: Queries,
  accountId: string,
  changes: readonly Change[],
): Promise<ChangeSet> {
  const kinds = new Set(services.all(visitedEntries).flatMap(({ changeKinds = [] }) => changeKinds));
  const [edgeIds, policyIds] = [new Set<string>(), new Set<string>()];
  const untilMs = performance.now() + changeSetLimits.heldMs;
  const pace = new Pace();
  let hasNewEdges = false;
  let read = 0;
  for (const change of changes) {
    if (performance.now() > untilMs) break;
    read += 1;
    const { kind, id, before } = change;
    const isRule = kind === 'ip_policy_rule';
    if (change.accountId !== accountId || !(kinds.has(kind) || kind === 'ip_policy' || isRule)) continue;
    if (pace.isDue) await pace.giveWay();
    const { edge_id, ip_policy_id } = namesIn(change);
    if (kinds.has(kind)) edgeIds.add(edge_id ?? id);
    if (kinds.has(kind) && edge_id === undefined) hasNewEdges ||= before === null;
    if (kind === 'ip_policy') policyIds.add(id);
    if (isRule && ip_policy_id !== undefined) policyIds.add(ip_policy_id);
  }
  const edges = new Map<string, SnapshotEntry | undefined>();
  const policies = new Map<string, PolicyEntry | undefined>();
  const rules = services.get(ipPolicyRuleSearch);
  const timed: Queries = {
    all: (sql, parameters) =>
      performance.now() > untilMs
        ? Promise.reject(new HeldTooLong('writes of others wait'))
        : queries.all(sql, parameters),
  };
  const hasAllPolicies = () => read === changes.length && policies.size === policyIds.size;
  try {
    for (const id of [...policyIds].slice(0, changeSetLimits.changed)) {
      policies.set(id, await rules.entry(timed, id));
      if (pace.isDue) await pace.giveWay();
    }
    for (const id of hasAllPolicies() ? [...edgeIds].slice(0, changeSetLimits.changed) : []) {
      edges.set(id, await loadEdge(services, timed, accountId, id));
      if (pace.isDue) await pace.giveWay();
    }
  } catch (error) {
    // What was read until now is compared.
    if (!(error instanceof HeldTooLong)) throw error;
  }
  return {
    edges,
    policies,
    restrictions: hasAllPolicies()
      ? await services.get(ipRestrictionSearch).ofType(queries, accountId, 'endpoints')
      : undefined,
    hasNewEdges,
    isCut: !hasAllPolicies() || edges.size < edgeIds.size,
  };
}

function namesIn({ before, after }: Change): { readonly edge_id?: string; readonly ip_policy_id?: string } {
  // Documents of stored resources.
  return JSON.parse(after ?? before ?? '{}');
}

export async function loadEdge(
  services: Services,
  queries: Queries,
  accountId: string,
  id: string,
): Promise<SnapshotEntry | undefined> {
  for (const each of services.all(visitedEntries)) {
    const entry = hasPrefix(id, each.prefix) ? await each.load(queries, accountId, id) : undefined;
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** Policies that the modules of an edge or endpoint name. */
export function policiesOf(entry: SnapshotEntry | undefined): ReadonlySet<string> {
  if (entry === undefined) return new Set();
  const all =
    entry.kind === 'https_edge'
      ? entry.routes.map(({ modules }) => modules)
      : 'modules' in entry
        ? [entry.modules]
        : [];
  return new Set(all.flatMap((modules) => [...referencedIds(modules, 'ip_policy')]));
}
