import { Type } from 'typebox';

import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { ResourceContext } from '../resource.ts';
import { ruleRows } from './table.ts';

const path = '/ip_policy_rule_counts';
/** Counting goes through the rules, so that neither may be large. */
const countedRules = 1_000;
const countedPolicies = 500;

export const RuleCounts = Type.Object(
  {
    counts: Type.Array(
      Type.Object({
        ip_policy_id: Type.String({ description: 'The IP policy.' }),
        rules: Type.Integer({ description: `How many rules the policy has, up to ${countedRules}.` }),
        has_more: Type.Boolean({ description: `true: the policy has more than ${countedRules} rules.` }),
      }),
      { description: `The newest ${countedPolicies} IP policies, newest first.` },
    ),
    uri: Type.String({ description: 'URI of this document.' }),
  },
  { $id: 'IpPolicyRuleCounts' },
);

export function countRulesOperation({ store }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path,
    operationId: 'IpPolicyRuleCounts',
    summary: 'Count the rules of IP policies',
    description: 'How many rules each of the newest IP policies has, for a list of them.',
    tag: 'IP policies',
    status: 200,
    response: RuleCounts,
    errors: [],
    handle: async ({ caller, uri }) => {
      const some = `SELECT 1 FROM ${ruleRows} r WHERE r.set_id = p.rule_set LIMIT ${countedRules + 1}`;
      const sql = `SELECT p.id, (SELECT COUNT(*) FROM (${some}) AS counted) FROM ip_policies p
        WHERE p.account_id = $1 ORDER BY p.id DESC LIMIT ${countedPolicies}`;
      const rows = await store.queries.all(sql, [caller.accountId]);
      const counts = rows.map(([id, count]) => ({
        ip_policy_id: id,
        rules: Math.min(Number(count), countedRules),
        has_more: Number(count) > countedRules,
      }));
      return { counts, uri: uri(path) };
    },
  });
}
