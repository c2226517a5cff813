import type { Call } from '../../../api/call.ts';
import { notFound } from '../../../api/errors.ts';
import { checkIfMatch, setEtag } from '../../../api/http/etag.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import type { Queries } from '../../../store/database.ts';
import { readAccountChanges } from '../../../store/write/change-log.ts';
import type { Change } from '../../../store/write/change-log.ts';
import type { Transaction } from '../../../store/write/transaction.ts';
import { lockoutGuard } from '../../ip-restrictions/service.ts';
import { checkMayWritePolicy } from '../../policy-protection.ts';
import type { ResourceContext } from '../../resource.ts';
import { compileRules } from '../compile.ts';
import type { CompiledRules } from '../compile.ts';
import { rangesOf } from '../rule-list.ts';
import type { RuleList } from '../rule-list.ts';
import { ruleSets } from '../service.ts';
import { rulesOfPolicy } from '../table.ts';
import { isOutdated, planReplacement, stateOf } from './rule-plan.ts';
import type { RulePlan } from './rule-plan.ts';
import { isReady, prepareSet, putInForce, writeAtOnce } from './rule-sets.ts';
import type { Owner } from './rule-sets.ts';

/** Plans that are made anew because the rules have changed; then everything happens in one long transaction. */
const planLimit = 3;

interface Counts {
  readonly added: number;
  readonly removed: number;
  readonly kept: number;
}

/** One replacement of all rules of a policy. */
interface Replacement {
  readonly context: ResourceContext;
  readonly call: Call;
  readonly policyId: string;
  readonly wanted: RuleList;
  readonly compiled: CompiledRules;
  readonly after: object;
}

export async function replaceAllRules(context: ResourceContext, call: Call, wanted: RuleList): Promise<Counts> {
  const { store, services } = context;
  const { id: policyId = '' } = call.params;
  const compiled = await compileRules(rangesOf(wanted));
  const replacement = { context, call, policyId, wanted, compiled, after: await stateOf(wanted) };
  const { rowsAtOnce } = services.get(ruleSets);
  const atOnce = (transaction: Transaction) => replaceInOneWrite(replacement, transaction);
  if (wanted.inOrder.length <= rowsAtOnce) {
    const sql = `SELECT id FROM ${rulesOfPolicy} LIMIT 1 OFFSET ${rowsAtOnce}`;
    const counts = await store.write(call.actor, async (transaction) =>
      (await transaction.all(sql, [policyId])).length > 0 ? undefined : atOnce(transaction),
    );
    if (counts !== undefined) return counts;
  }
  for (let plans = 0; plans < planLimit; plans++) {
    const counts = await replaceByPlan(replacement);
    if (counts !== undefined) return counts;
  }
  return store.write(call.actor, atOnce);
}

/** Within a transaction of the caller's. */
export async function replaceWithin(
  context: ResourceContext,
  call: Call,
  policyId: string,
  wanted: RuleList,
  transaction: Transaction,
): Promise<void> {
  const compiled = await compileRules(rangesOf(wanted));
  await replaceInOneWrite({ context, call, policyId, wanted, compiled, after: {} }, transaction);
}

async function replaceInOneWrite(replacement: Replacement, transaction: Transaction): Promise<Counts> {
  const { policyId, wanted } = replacement;
  await checkPolicy(replacement, transaction);
  return finish(replacement, transaction, await planReplacement(transaction, policyId, wanted));
}

/** Plans outside of any transaction, and writes only if the plan still holds then; undefined where it does not. */
async function replaceByPlan(replacement: Replacement): Promise<Counts | undefined> {
  const { context, call, policyId, wanted } = replacement;
  const { store, services } = context;
  const sets = services.get(ruleSets);
  const plan = await planReplacement(store.queries, policyId, wanted);
  if (plan.gone.length + plan.fresh.length <= sets.rowsAtOnce) return writeIfCurrent(replacement, plan);
  // The slices that the plan was read in may be of several lists.
  const owner = { accountId: call.caller.accountId, policyId };
  const changesAfter: Transaction['changesAfter'] = (version, kinds, limit) =>
    readAccountChanges(store.queries, owner.accountId, version, kinds, limit);
  if (await isOutdated(changesAfter, policyId, plan)) return undefined;
  checkIfMatch(call, plan.before);
  const set = await prepareSet(store, owner, plan, sets);
  if (set === undefined) return undefined;
  let counts: Counts | undefined;
  try {
    counts = await writeIfCurrent(replacement, plan, set);
  } finally {
    // Should it fail, the set is deleted when its time has passed.
    if (counts === undefined) await sets.discard(set).catch(() => {});
  }
  return counts;
}

function writeIfCurrent(replacement: Replacement, plan: RulePlan, set?: number): Promise<Counts | undefined> {
  const { context, call, policyId } = replacement;
  return context.store.write(call.actor, async (transaction) => {
    await checkPolicy(replacement, transaction);
    if (await isOutdated(transaction.changesAfter, policyId, plan)) return undefined;
    if (set !== undefined && !(await isReady(transaction, set))) return undefined;
    return finish(replacement, transaction, plan, set);
  });
}

type Named = Pick<Replacement, 'context' | 'call' | 'policyId'>;

/** To be called before the work begins, and again in the write: a caller without the right must not even prepare. */
export async function checkPolicy({ context, call, policyId }: Named, queries: Queries): Promise<void> {
  const { referables, services } = context;
  if (!(await referables.exists(queries, 'ip_policy', call.caller.accountId, policyId))) {
    throw new UserError(notFound, { noun: 'IP policy', id: quote(policyId) });
  }
  await checkMayWritePolicy(services, queries, call.caller, policyId);
}

/** Records that many rules of a policy were changed at once. */
export function recordRules(
  transaction: Transaction,
  { accountId, policyId: id }: Owner,
  counts: Counts,
  more: Pick<Change, 'parts' | 'payload'>,
): void {
  const before = JSON.stringify({ id, rules: counts.kept + counts.removed });
  const after = JSON.stringify({ id, rules: counts.kept + counts.added, replaced: counts });
  transaction.record({ accountId, kind: 'ip_policy', id, before, after, cascades: true, ...more });
}

/** Puts the plan in force. Where its set was prepared, this takes a few statements however large it is. */
async function finish(
  { context: { services }, call, policyId, compiled, after }: Replacement,
  transaction: Transaction,
  plan: RulePlan,
  set?: number,
): Promise<Counts> {
  const { accountId } = call.caller;
  checkIfMatch(call, plan.before);
  const counts = { added: plan.fresh.length, removed: plan.gone.length, kept: plan.kept.length };
  if (counts.added + counts.removed > 0) {
    const owner = { accountId, policyId };
    let parts: string | undefined;
    if (set === undefined) parts = await writeAtOnce(transaction, owner, plan, services.get(ruleSets).rowsInStep);
    else await putInForce(transaction, policyId, set);
    recordRules(transaction, owner, counts, { parts, payload: compiled });
  }
  setEtag(call, after);
  await services.get(lockoutGuard).check(transaction, call);
  return counts;
}
