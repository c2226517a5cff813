import { mapInTurns } from '../../lib/map-in-turns.ts';
import { sortInTurns } from '../../lib/sort-in-turns.ts';
import type { ResourceContext } from '../resource.ts';
import type { RuleEntry } from '../rule-entries.ts';
import { pastRules, readDocuments } from './past-rules.ts';
import { replaceWithin } from './replace/replace-all-rules.ts';
import { revertRules } from './revert-rules.ts';
import { acceptRules, toEntry } from './rule-list.ts';
import { limitsInWords } from './rule-parts.ts';
import type { RuleLists } from './service.ts';
import type { IpPolicyRule } from './table.ts';

export function createRuleLists(context: ResourceContext): RuleLists {
  return {
    async accept(rules) {
      const { inOrder } = await acceptRules(rules);
      return mapInTurns(inOrder, toEntry);
    },
    read: async (queries, policyId) => inCanonicalOrder(await readDocuments(queries, policyId)),
    readPast: async (queries, policy, past) => inCanonicalOrder(await pastRules(queries, policy, past)),
    async replace(transaction, call, policyId, rules) {
      const whole = await mapInTurns(rules, withTexts);
      await replaceWithin(context, call, policyId, await acceptRules(whole), transaction);
    },
    reverter: {
      limits: limitsInWords,
      revert: (transaction, call, parts) => revertRules(context, transaction, call, parts),
    },
  };
}

/** The databases sort texts in different ways. */
async function inCanonicalOrder(rules: readonly IpPolicyRule[]): Promise<readonly RuleEntry[]> {
  const byCidr = new Map(rules.map((rule) => [rule.cidr, rule]));
  const sorted = await sortInTurns([...byCidr.keys()]);
  // Every key was just put there.
  return mapInTurns(sorted, (cidr) => toEntry(byCidr.get(cidr)!));
}

/** With both texts, so that a rule loses those that the entry does not have. */
function withTexts(rule: RuleEntry): RuleEntry {
  if (typeof rule !== 'string') return { description: '', metadata: '', ...rule };
  const isDeny = rule.startsWith('!');
  return { cidr: isDeny ? rule.slice(1) : rule, action: isDeny ? 'deny' : 'allow', description: '', metadata: '' };
}
