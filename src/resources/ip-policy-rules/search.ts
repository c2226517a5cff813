import { cidrsContaining } from '../../lib/ip/cidr.ts';
import type { Row } from '../../store/database.ts';
import { deleteAllRules } from './rule-sides.ts';
import type { IpPolicyRules, MatchingRule } from './service.ts';

/** Finds rules by the names of the ranges that contain an address: an index look-up each, however many rules there are. */
export const ruleSearch: IpPolicyRules = {
  async matching(queries, policyIds, source) {
    const ranges = cidrsContaining(source);
    const places = ranges.map((_, at) => `$${at + 2}`).join(', ');
    const sql = `SELECT id, ip_policy_id, cidr, action FROM ip_policy_rules WHERE ip_policy_id = $1 AND cidr IN (${places})`;
    const found: MatchingRule[] = [];
    for (const id of policyIds) found.push(...(await queries.all(sql, [id, ...ranges])).map(toRule));
    return found;
  },
  deleteAll: deleteAllRules,
};

function toRule([id, policyId, cidr, action]: Row): MatchingRule {
  return {
    id: String(id),
    ip_policy_id: String(policyId),
    cidr: String(cidr),
    action: action === 'deny' ? 'deny' : 'allow',
  };
}
