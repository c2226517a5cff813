import { Type } from 'typebox';

import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { ResourceContext } from '../resource.ts';
import { ruleRows } from './table.ts';

const path = '/ip_policy_rule_counts';
/** Counting goes through the rules: policies share this number, and each has at least `countedRules` of it. */
const sharedRules = 100_000;
const countedRules = 1_000;
const countedPolicies = 500;

export const RuleCounts = Type.Object(
  {
    counts: Type.Array(
      Type.Object({
        ip_policy_id: Type.String({ description: 'The IP policy.' }),
        rules: Type.Integer({ description: 'How many rules the policy has, or how many were counted if it has more.' }),
        has_more: Type.Boolean({
          description: `true: the policy has more rules than were counted, which are at least ${countedRules}, and more where there are few policies.`,
        }),
      }),
      { description: `The newest ${countedPolicies} IP policies, newest first.` },
    ),
    uri: Type.String({ description: 'URI of this document.' }),
  },
  { $id: 'IpPolicyRuleCounts' },
);

/** To one digit and zeros, as people read "at least". */
function roundDown(count: number): number {
  const unit = 10 ** Math.floor(Math.log10(count));
  return Math.floor(count / unit) * unit;
}

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
      const newest = `FROM ip_policies p WHERE p.account_id = $1 ORDER BY p.id DESC LIMIT ${countedPolicies}`;
      const policies = await store.queries.all(`SELECT p.id ${newest}`, [caller.accountId]);
      const most = Math.max(countedRules, roundDown(sharedRules / Math.max(1, policies.length)));
      const some = `SELECT 1 FROM ${ruleRows} r WHERE r.set_id = p.rule_set LIMIT $2`;
      const sql = `SELECT p.id, (SELECT COUNT(*) FROM (${some}) AS counted) ${newest}`;
      const rows = await store.queries.all(sql, [caller.accountId, most + 1]);
      const counts = rows.map(([id, count]) => ({
        ip_policy_id: id,
        rules: Math.min(Number(count), most),
        has_more: Number(count) > most,
      }));
      return { counts, uri: uri(path) };
    },
  });
}
