import { cidrsContaining } from '../../lib/ip/cidr.ts';
import { RuleColumns } from '../../lib/ip/rule-coverage.ts';
import type { Row } from '../../store/database.ts';
import { loadPolicy } from './compile.ts';
import { pastRulesFor } from './past-rules.ts';
import { readCidr, readRules } from './read-rules.ts';
import { retireSet } from './replace/rule-sets.ts';
import { mostRules, toParts } from './rule-parts.ts';
import type { IpPolicyRules, MatchingRule } from './service.ts';
import { ipPolicyRules, rulesOfPolicy } from './table.ts';

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
  async matchingPast(queries, accountId, policyIds, source, past) {
    const found: MatchingRule[] = [];
    for (const id of policyIds) {
      const today = await ruleSearch.matching(queries, [id], source);
      const then = await pastRulesFor(queries, { id, account_id: accountId }, source, past, today);
      for (const rule of then) found.push({ id: rule.id, ip_policy_id: id, cidr: rule.cidr, action: rule.action });
    }
    return found;
  },
  changeKinds: ['ip_policy', ipPolicyRules.kind],
  entry: loadPolicy,
  async columns(queries, policyId, most) {
    const columns = new RuleColumns();
    for await (const rows of readRules(queries, policyId, 'action')) {
      if (columns.count + rows.length > most) return undefined;
      for (const [cidr, action] of rows) columns.append(readCidr(String(cidr)), action === 'deny' ? 'deny' : 'allow');
    }
    return columns;
  },
  async withCidr(queries, policyId, cidr) {
    const [row] = await queries.all(`SELECT id, cidr, action FROM ${rulesOfPolicy} AND cidr = $2`, [policyId, cidr]);
    return row && toRule(policyId, row);
  },
  async uses(queries, accountId) {
    const rows = await queries.all(
      `SELECT p.id, u.user_id FROM ip_policies p LEFT JOIN ip_policies_uses u ON u.used_id = p.id
       WHERE p.account_id = $1 ORDER BY p.id, u.user_id`,
      [accountId],
    );
    const users = new Map<string, string[]>();
    for (const [id, user] of rows) {
      if (user === null || user === undefined) continue;
      const named = users.get(String(user));
      if (named === undefined) users.set(String(user), [String(id)]);
      else named.push(String(id));
    }
    return { policyIds: [...new Set(rows.map(([id]) => String(id)))], users };
  },
  async hasAny(queries, policyId) {
    return (await queries.all(`SELECT 1 FROM ${rulesOfPolicy} LIMIT 1`, [policyId])).length > 0;
  },
  async deleteAll(transaction, policyId) {
    const sql = `SELECT document FROM ${rulesOfPolicy} LIMIT ${mostRules + 1}`;
    const removed = (await transaction.all(sql, [policyId])).map((row) => ipPolicyRules.parse(row));
    await retireSet(transaction, policyId);
    return toParts({ added: [], removed });
  },
};

function toRule(policyId: string, [id, cidr, action]: Row): MatchingRule {
  return {
    id: String(id),
    ip_policy_id: policyId,
    cidr: String(cidr),
    action: action === 'deny' ? 'deny' : 'allow',
  };
}
