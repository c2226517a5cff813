import { formatIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { NameOf, Question } from '../modules/step.ts';
import { judge } from './ip-policy-rules/service.ts';
import type { Judgement, MatchingRule } from './ip-policy-rules/service.ts';

/** Rules that contain the address, by policy. */
export type RulesByPolicy = ReadonlyMap<string, readonly MatchingRule[]>;

/** Why a step refuses a visitor, in words. */
export function whyRefused(asks: Question | undefined, nameOf: NameOf): string {
  if (asks?.refusal !== undefined) return asks.refusal;
  if (asks?.needs !== undefined) return `a visitor ${asks.needs(nameOf)}, and this one has none that it takes`;
  return `it goes by ${asks?.by ?? 'what is not shown'}, and refuses that of this visitor`;
}

/** Why an address is let in or refused, in words. */
export function because(rule: MatchingRule | undefined, source: IpAddress): string {
  const address = formatIp(source);
  return rule === undefined
    ? `no rule of its IP policies contains ${address}, and what no rule allows is refused`
    : `${address} lies in ${rule.cidr}, which the rule ${rule.id} ${rule.action === 'allow' ? 'allows' : 'denies'}`;
}

/** The verdict of policies on an address. */
export function judgeBy(policyIds: readonly string[], rules: RulesByPolicy): Judgement {
  return judge(
    policyIds,
    policyIds.flatMap((id) => rules.get(id) ?? []),
  );
}
