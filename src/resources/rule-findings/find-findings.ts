import type { RuleColumns } from '../../lib/ip/rule-coverage.ts';
import { AbandonedError, Pace } from '../../lib/pace.ts';
import { abandonable } from '../../store/abandonable.ts';
import type { Queries } from '../../store/database.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { ResourceContext } from '../resource.ts';
import { FindingList } from './finding.ts';
import type { PolicyList } from './finding.ts';
import { mostDoors, noteOpenDoors, readDoors } from './find-open-doors.ts';
import type { GuardedDoor } from './find-open-doors.ts';
import { findRuleFindings, keyOfList } from './find-rule-findings.ts';

/** Rules that are held at once: 20 MB of IPv4, or 60 of IPv6. */
const mostRules = 2_000_000;

interface Wanted {
  readonly accountId: string;
  /** Undefined: all policies, and all that visitors reach. */
  readonly policyId?: string | undefined;
  readonly isAbandoned: () => boolean;
}

/** Proves what can be proved about the rules of an account, in slices. */
export async function findFindings(
  context: Pick<ResourceContext, 'services' | 'store'>,
  { accountId, policyId, isAbandoned }: Wanted,
): Promise<FindingList> {
  const found = new FindingList();
  const pace = new Pace(isAbandoned);
  const doors: GuardedDoor[] = [];
  for await (const door of readDoors(context, accountId, pace)) {
    if (isAbandoned()) throw new AbandonedError('nobody waits for it any more');
    if (doors.length === mostDoors) {
      found.isComplete = false;
      break;
    }
    // Texts of policies may be long.
    doors.push({ ...door, guards: { ...door.guards, others: new Map() } });
  }
  const { lists, columns } = await context.store.readSnapshot(async (all) => {
    const queries = abandonable(all, isAbandoned);
    const uses = await context.services.get(ipPolicyRuleSearch).uses(queries, accountId);
    const named = listsOf(uses, doors);
    const wanted = policyId === undefined ? named : named.filter(({ policyIds }) => policyIds.includes(policyId));
    return { lists: wanted, columns: await readColumns(context, queries, wanted, found) };
  });
  const admits = await findRuleFindings(lists, columns, found, isAbandoned);
  if (policyId !== undefined) return found;
  const restrictions = await context.services
    .get(ipRestrictionSearch)
    .ofType(context.store.queries, accountId, 'endpoints');
  const isRestricted = restrictions.some(
    ({ enforced, ip_policy_ids }) => enforced && admits.get(keyOfList(ip_policy_ids)) !== 'everybody',
  );
  if (!isRestricted) await noteOpenDoors(doors, admits, found, pace);
  return found;
}

/**
 * The lists of IP policies that decide together. An IP restriction or an API key has one list; an edge, route or endpoint one for
 * each module that names some.
 */
function listsOf(
  {
    policyIds,
    users,
  }: { readonly policyIds: readonly string[]; readonly users: ReadonlyMap<string, readonly string[]> },
  doors: readonly GuardedDoor[],
): readonly PolicyList[] {
  const byKey = new Map<string, { policyIds: readonly string[]; users: string[]; isWhole: boolean }>();
  const used = new Set<string>();
  const add = (ids: readonly string[], user: string | undefined, isWhole: boolean) => {
    const known = ids.filter((id) => policies.has(id));
    if (known.length === 0) return;
    for (const id of known) used.add(id);
    const key = `${keyOfList(known)}${isWhole ? '' : ' and others'}`;
    const list = byKey.get(key) ?? { policyIds: [...new Set(known)], users: [], isWhole };
    if (user !== undefined) list.users.push(user);
    byKey.set(key, list);
  };
  const policies = new Set(policyIds);
  const ofDoors = new Set(doors.map(({ id }) => id));
  for (const { id, guards } of doors) {
    for (const list of [...guards.lists, ...guards.spared]) add(list, id, true);
    for (const each of guards.mixed) add([each], id, false);
  }
  for (const [user, list] of users) {
    if (/^(?:ipx|ak)_/.test(user)) add(list, user, true);
    // An edge that is reached nowhere, or a module that is switched off, decides nothing yet.
    else if (!ofDoors.has(user)) for (const each of list) add([each], user, false);
  }
  for (const id of policyIds) if (!used.has(id)) add([id], undefined, true);
  return [...byKey.values()];
}

/** Rules by policy; policies that are too many together are left out. */
async function readColumns(
  { services }: Pick<ResourceContext, 'services'>,
  queries: Queries,
  lists: readonly PolicyList[],
  found: FindingList,
): Promise<ReadonlyMap<string, RuleColumns>> {
  const rules = services.get(ipPolicyRuleSearch);
  const columns = new Map<string, RuleColumns>();
  let left = mostRules;
  for (const id of new Set(lists.flatMap(({ policyIds }) => policyIds))) {
    const read = await rules.columns(queries, id, left);
    if (read === undefined) {
      found.isComplete = false;
      continue;
    }
    columns.set(id, read);
    left -= read.count;
  }
  return columns;
}
