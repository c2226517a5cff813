import { cidrsContaining } from '../../lib/ip/cidr.ts';
import type { Row } from '../../store/database.ts';
import { retireSet } from './replace/rule-sets.ts';
import type { IpPolicyRules, MatchingRule } from './service.ts';
import { rulesOfPolicy } from './table.ts';

/** Finds rules by the names of the ranges that contain an address: an index look-up each, however many rules there are. */
export const ruleSearch: IpPolicyRules = {
  async matching(queries, policyIds, source) {
    const ranges = cidrsContaining(source);
    const places = ranges.map((_, at) => `$${at + 2}`).join(', ');
    const sql = `SELECT id, cidr, action FROM ${rulesOfPolicy} AND cidr IN (${places})`;
    const found: MatchingRule[] = [];
    for (const id of policyIds) for (const row of await queries.all(sql, [id, ...ranges])) found.push(toRule(id, row));
    return found;
  },
  async hasAny(queries, policyId) {
    return (await queries.all(`SELECT 1 FROM ${rulesOfPolicy} LIMIT 1`, [policyId])).length > 0;
  },
  deleteAll: retireSet,
};

function toRule(policyId: string, [id, cidr, action]: Row): MatchingRule {
  return {
    id: String(id),
    ip_policy_id: policyId,
    cidr: String(cidr),
    action: action === 'deny' ? 'deny' : 'allow',
  };
}
