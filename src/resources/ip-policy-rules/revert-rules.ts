import { isDeepStrictEqual } from 'node:util';

import type { Call } from '../../api/call.ts';
import { notReverted } from '../../api/errors.ts';
import type { RevertedParts } from '../../api/reverter.ts';
import { UserError } from '../../errors/user-error.ts';
import { chunks } from '../../lib/chunks.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { lockoutGuard } from '../ip-restrictions/service.ts';
import type { ResourceContext } from '../resource.ts';
import { checkPolicy, recordRules } from './replace/replace-all-rules.ts';
import { writeAtOnce } from './replace/rule-sets.ts';
import { toEntry } from './rule-list.ts';
import { fromParts } from './rule-parts.ts';
import type { RuleChange } from './rule-parts.ts';
import { ruleSets } from './service.ts';
import { ipPolicyRules, rulesOfPolicy } from './table.ts';

/** Takes away the rules that a change has added, and brings those back that it has removed. Others stay as they are. */
export async function revertRules(
  context: ResourceContext,
  transaction: Transaction,
  call: Call,
  parts: string,
): Promise<RevertedParts> {
  const { id: policyId = '' } = call.params;
  await checkPolicy({ context, call, policyId }, transaction);
  const { services } = context;
  const { rowsInStep } = services.get(ruleSets);
  const owner = { accountId: call.caller.accountId, policyId };
  const change = fromParts(parts, owner);
  await checkUnchanged(transaction, policyId, change, rowsInStep);
  const gone = change.added.map(({ id }) => id);
  const fresh = change.removed;
  const [[rules] = []] = await transaction.all(`SELECT COUNT(*) FROM ${rulesOfPolicy}`, [policyId]);
  const before = Number(rules);
  if (gone.length + fresh.length > 0) {
    const counts = { added: fresh.length, removed: gone.length, kept: before - gone.length };
    const own = await writeAtOnce(transaction, owner, { gone, fresh }, rowsInStep);
    recordRules(transaction, owner, counts, { parts: own });
  }
  await services.get(lockoutGuard).check(transaction, call);
  return {
    before: { rules: before, rules_that_differ: change.added.map(toEntry) },
    after: { rules: before - gone.length + fresh.length, rules_that_differ: fresh.map(toEntry) },
  };
}

async function checkUnchanged(
  transaction: Transaction,
  policyId: string,
  { added, removed }: RuleChange,
  rowsInStep: number,
): Promise<void> {
  const ids = [...added, ...removed].map(({ id }) => id);
  // In whatever account: another server's ids can be taken over.
  const known = new Map((await ipPolicyRules.loadMany(transaction, ids)).map((rule) => [rule.id, rule]));
  for (const rule of added)
    if (!isDeepStrictEqual(known.get(rule.id), rule))
      throw refusal(`the rule ${rule.cidr} of the IP policy ${policyId} has changed or is gone since`);
  const back = removed.find(({ id }) => known.has(id));
  if (back !== undefined) throw refusal(`the IP policy rule ${back.id} exists again`);
  const own = new Set(added.map(({ id }) => id));
  for (const rules of chunks(removed, rowsInStep)) {
    const places = rules.map((_, at) => `$${at + 2}`).join(', ');
    const sql = `SELECT id, cidr FROM ${rulesOfPolicy} AND cidr IN (${places})`;
    const rows = await transaction.all(sql, [policyId, ...rules.map(({ cidr }) => cidr)]);
    const taken = rows.find(([id]) => !own.has(String(id)));
    if (taken !== undefined) throw refusal(`the IP policy ${policyId} has a rule ${String(taken[1])} again`);
  }
}

function refusal(reason: string): UserError {
  return new UserError(notReverted, { reason });
}
