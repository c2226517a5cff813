import type { Owner } from './replace/rule-sets.ts';
import type { IpPolicyRule } from './table.ts';

/** Rules that one change has added to a policy and removed from it. */
export interface RuleChange {
  readonly added: readonly IpPolicyRule[];
  readonly removed: readonly IpPolicyRule[];
}

/** Rules of one change that the log keeps for a revert, at most. */
export const mostRules = 1_000;
/** So many rules without texts have some 115 kB. */
const mostBytes = 128 * 1024;

export const limitsInWords = `it keeps at most ${mostRules.toLocaleString('en')} rules of a change, in ${mostBytes / 1024} KiB`;

/** The rules as parts of their change; undefined where the log does not keep them. */
export function toParts({ added, removed }: RuleChange): string | undefined {
  if (added.length + removed.length > mostRules) return undefined;
  const parts = JSON.stringify({ added: added.map(withoutOwner), removed: removed.map(withoutOwner) });
  return Buffer.byteLength(parts) > mostBytes ? undefined : parts;
}

export function fromParts(parts: string, { accountId, policyId }: Owner): RuleChange {
  // Only `toParts` writes them.
  const { added, removed } = JSON.parse(parts) as Record<keyof RuleChange, readonly PartOfRule[]>;
  const complete = (rule: PartOfRule) => ({ ...rule, account_id: accountId, ip_policy_id: policyId });
  return { added: added.map(complete), removed: removed.map(complete) };
}

type PartOfRule = Omit<IpPolicyRule, 'account_id' | 'ip_policy_id'>;

function withoutOwner({ account_id: _account, ip_policy_id: _policy, ...rule }: IpPolicyRule): PartOfRule {
  return rule;
}
