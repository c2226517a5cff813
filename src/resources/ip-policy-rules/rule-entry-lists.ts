import { mapInTurns } from '../../lib/map-in-turns.ts';
import { sortInTurns } from '../../lib/sort-in-turns.ts';
import type { Queries } from '../../store/database.ts';
import type { ResourceContext } from '../resource.ts';
import type { RuleEntry } from '../rule-entries.ts';
import { readRules } from './read-rules.ts';
import { replaceWithin } from './replace/replace-all-rules.ts';
import { revertRules } from './revert-rules.ts';
import { acceptRules, toEntry } from './rule-list.ts';
import { limitsInWords } from './rule-parts.ts';
import type { RuleLists } from './service.ts';
import { ipPolicyRules } from './table.ts';

export function createRuleLists(context: ResourceContext): RuleLists {
  return {
    async accept(rules) {
      const { inOrder } = await acceptRules(rules);
      return mapInTurns(inOrder, toEntry);
    },
    read: readEntries,
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

async function readEntries(queries: Queries, policyId: string): Promise<readonly RuleEntry[]> {
  const byCidr = new Map<string, RuleEntry>();
  for await (const rows of readRules(queries, policyId, 'document')) {
    for (const [cidr, document] of rows) byCidr.set(String(cidr), toEntry(ipPolicyRules.parse([document ?? ''])));
  }
  // The databases sort texts in different ways.
  const sorted = await sortInTurns([...byCidr.keys()]);
  // Every key was just put there.
  return mapInTurns(sorted, (cidr) => byCidr.get(cidr)!);
}

/** With both texts, so that a rule loses those that the entry does not have. */
function withTexts(rule: RuleEntry): RuleEntry {
  if (typeof rule !== 'string') return { description: '', metadata: '', ...rule };
  const isDeny = rule.startsWith('!');
  return { cidr: isDeny ? rule.slice(1) : rule, action: isDeny ? 'deny' : 'allow', description: '', metadata: '' };
}
