import type { MatchingRule } from '../resource.ts';

/** What the rules of one restriction or module say to an address. */
export interface Judgement {
  readonly allowed: boolean;
  /** The rule that decided; undefined when none matches, which refuses. */
  readonly rule: MatchingRule | undefined;
}

/** `matching` holds every rule that contains the address; the narrowest of the deciding kind is named. */
export function judge(policyIds: readonly string[], matching: readonly MatchingRule[]): Judgement {
  const own = matching.filter(({ ip_policy_id }) => policyIds.includes(ip_policy_id));
  const narrowest = own.toSorted((a, b) => prefixOf(b) - prefixOf(a));
  const denied = narrowest.find(({ action }) => action === 'deny');
  if (denied !== undefined) return { allowed: false, rule: denied };
  const rule = narrowest.find(({ action }) => action === 'allow');
  return { allowed: rule !== undefined, rule };
}

function prefixOf({ cidr }: MatchingRule): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
