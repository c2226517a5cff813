import assert from 'node:assert/strict';

import { compileRules, createPolicyCompiler } from '../../src/resources/ip-policy-rules/compile.ts';
import { acceptRules, rangesOf } from '../../src/resources/ip-policy-rules/rule-list.ts';
import type { Store } from '../../src/store/store.ts';

/** Rules that are in force, in the form of a list, sorted. */
export async function storedRules(store: Store, policyId: string): Promise<readonly string[]> {
  const sql = 'SELECT cidr, action FROM ip_policy_rules WHERE ip_policy_id = $1';
  const rows = await store.queries.all(sql, [policyId]);
  return rows.map(([cidr, action]) => `${action === 'deny' ? '!' : ''}${cidr}`).toSorted();
}

/** Checks that exactly this list is stored and counted, and that a process which remembers nothing compiles exactly that. */
export async function checkStored(store: Store, policyId: string, list: readonly string[]): Promise<void> {
  const stored = await storedRules(store, policyId);
  const [has, wanted] = [new Set(stored), new Set(list)];
  const differences = {
    missing: list.filter((rule) => !has.has(rule)).length,
    left: stored.filter((rule) => !wanted.has(rule)).length,
    count: stored.length,
  };
  assert.deepEqual(differences, { missing: 0, left: 0, count: list.length });
  await store.readSnapshot(async (queries) => {
    const used = `SELECT SUM(used) FROM account_usage WHERE quota = 'ip_policy_rules'`;
    const [row] = await queries.all(`SELECT (SELECT COUNT(*) FROM ip_policy_rule_rows) - (${used})`);
    assert.equal(Number(row?.[0]), 0, 'rows that are not counted');
  });
  const { packed } = await compileRules(rangesOf(await acceptRules(list)));
  const [entry] = await createPolicyCompiler(store).load(store.queries, [policyId]);
  assert.ok(entry?.kind === 'policy');
  assert.deepEqual(entry.rules, packed);
}
