import { referencedIds } from '../../modules/index.ts';
import type { PolicyEntry, SnapshotEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Change } from '../../store/write/change-log.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { Services } from '../services.ts';
import { visitedEntries } from '../visited-entries.ts';
import type { MetRestriction } from '../visit-run.ts';

/** Most edges and policies that one change is compared for. */
const mostChanged = 1_000;

/** What a change makes of edges, policies and restrictions, where it touches them; undefined: it goes. */
export interface ChangeSet {
  readonly edges: ReadonlyMap<string, SnapshotEntry | undefined>;
  readonly policies: ReadonlyMap<string, PolicyEntry | undefined>;
  readonly restrictions: readonly MetRestriction[];
  readonly hasNewEdges: boolean;
  /** It touches more than is compared. */
  readonly isCut: boolean;
}

/** Reads what a write has made, inside of its transaction. */
export async function readChangeSet(
  services: Services,
  queries: Queries,
  accountId: string,
  changes: readonly Change[],
): Promise<ChangeSet> {
  const kinds = new Set(services.all(visitedEntries).flatMap(({ changeKinds = [] }) => changeKinds));
  const [edgeIds, policyIds] = [new Set<string>(), new Set<string>()];
  let hasNewEdges = false;
  for (const change of changes.filter((each) => each.accountId === accountId)) {
    const { kind, id, before } = change;
    const { edge_id, ip_policy_id } = namesIn(change);
    if (kinds.has(kind)) edgeIds.add(edge_id ?? id);
    if (kinds.has(kind) && edge_id === undefined) hasNewEdges ||= before === null;
    if (kind === 'ip_policy') policyIds.add(id);
    if (kind === 'ip_policy_rule' && ip_policy_id !== undefined) policyIds.add(ip_policy_id);
  }
  const edges = new Map<string, SnapshotEntry | undefined>();
  for (const id of [...edgeIds].slice(0, mostChanged)) edges.set(id, await loadEdge(services, queries, accountId, id));
  const policies = new Map<string, PolicyEntry | undefined>();
  const rules = services.get(ipPolicyRuleSearch);
  for (const id of [...policyIds].slice(0, mostChanged)) policies.set(id, await rules.entry(queries, id));
  return {
    edges,
    policies,
    restrictions: await services.get(ipRestrictionSearch).ofType(queries, accountId, 'endpoints'),
    hasNewEdges,
    isCut: edgeIds.size > mostChanged || policyIds.size > mostChanged,
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
