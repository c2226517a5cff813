import { UserError } from '../../errors/user-error.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { cidrsContaining } from '../../lib/ip/cidr.ts';
import { Pace } from '../../lib/pace.ts';
import type { Queries } from '../../store/database.ts';
import type { Stored } from '../../store/table.ts';
import { readParts } from '../../store/write/earlier-documents.ts';
import type { Past } from '../configuration-kind.ts';
import { rulesNotKept } from './errors.ts';
import { readRules } from './read-rules.ts';
import { fromParts } from './rule-parts.ts';
import type { MatchingRule } from './service.ts';
import { ipPolicyRules } from './table.ts';
import type { IpPolicyRule } from './table.ts';

/** The rules of a policy, in slices. */
export async function readDocuments(queries: Queries, policyId: string): Promise<readonly IpPolicyRule[]> {
  const rules: IpPolicyRule[] = [];
  for await (const rows of readRules(queries, policyId, 'document'))
    for (const [, document] of rows) rules.push(ipPolicyRules.parse([document ?? '']));
  return rules;
}

/** What came first of a rule since: where in the log, and the rule before it, if it existed. */
interface First {
  readonly place: number;
  readonly rule: IpPolicyRule | undefined;
}

/**
 * The rules that a policy had at an earlier moment. A rule has changes of its own, and changes of its whole list, whose parts
 * name it: the first of them all says how it was.
 */
export async function pastRules(queries: Queries, policy: Stored, past: Past): Promise<readonly IpPolicyRule[]> {
  return rulesThen(queries, policy, past, await readDocuments(queries, policy.id));
}

/** Those of a policy that contain an address. `today`: the ones that do now. */
export async function pastRulesFor(
  queries: Queries,
  policy: Policy,
  source: IpAddress,
  past: Past,
  today: readonly MatchingRule[],
): Promise<readonly MatchingRule[]> {
  const ranges = new Set(cidrsContaining(source));
  return (await rulesThen(queries, policy, past, today)).filter(({ cidr }) => ranges.has(cidr));
}

type Policy = Pick<Stored, 'id' | 'account_id'>;

async function rulesThen<Rule extends Pick<Stored, 'id'>>(
  queries: Queries,
  policy: Policy,
  past: Past,
  now: readonly Rule[],
): Promise<readonly (Rule | IpPolicyRule)[]> {
  const firsts = await firstsOfLists(queries, policy, past);
  const today = now.filter(({ id }) => !firsts.has(id));
  const same = await past.unchanged(today);
  const own = past.changedOf(ipPolicyRules.kind, 'ip_policy_id').get(policy.id) ?? [];
  // Documents of this kind are rules.
  const changed = own.filter(({ id }) => !firsts.has(id)).map((rule) => ipPolicyRules.complete(rule as IpPolicyRule));
  return [...same, ...changed, ...firsts.values().flatMap(({ rule }) => (rule === undefined ? [] : [rule]))];
}

/** The rules that changes of the whole list name. */
async function firstsOfLists(
  queries: Queries,
  { id: policyId, account_id: accountId }: Policy,
  { earlier }: Past,
): Promise<ReadonlyMap<string, First>> {
  const firsts = new Map<string, First>();
  const pace = new Pace();
  for await (const { place, version, parts } of readParts(queries, accountId, policyId, earlier.version)) {
    if (parts === null) throw new UserError(rulesNotKept, { policy: policyId, version });
    const { added, removed } = fromParts(parts, { accountId, policyId });
    // A rule of both lists was there before.
    for (const rule of removed) if (!firsts.has(rule.id)) firsts.set(rule.id, { place, rule });
    for (const { id } of added) if (!firsts.has(id)) firsts.set(id, { place, rule: undefined });
    if (pace.isDue) await pace.giveWay();
  }
  for (const [id, place] of await earlier.firstPlaces([...firsts.keys()])) {
    if (place > (firsts.get(id)?.place ?? 0)) continue;
    const own = earlier.documents.get(id);
    firsts.set(id, { place, rule: own === undefined ? undefined : ipPolicyRules.parse([own.text]) });
  }
  return firsts;
}
