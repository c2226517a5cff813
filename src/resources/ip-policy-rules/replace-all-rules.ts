import { setTimeout as sleep } from 'node:timers/promises';

import type { Call } from '../../api/call.ts';
import { lostRace, notFound } from '../../api/errors.ts';
import { checkIfMatch, setEtag } from '../../api/http/etag.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { readAccountChanges } from '../../store/write/change-log.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/group-commit.ts';
import { lockoutGuard } from '../ip-restrictions/service.ts';
import { checkMayWritePolicy } from '../policy-protection.ts';
import type { ResourceContext } from '../resource.ts';
import { compileRules } from './compile.ts';
import type { CompiledRules } from './compile.ts';
import { rangesOf } from './rule-list.ts';
import type { RuleList } from './rule-list.ts';
import { isOutdated, planReplacement, planWithin, stateOf } from './rule-plan.ts';
import type { RulePlan } from './rule-plan.ts';
import * as sides from './rule-sides.ts';
import type { Lease } from './rule-sides.ts';
import { ruleSweeper } from './service.ts';
import { isPrepared, prepareOnHiddenSide, rowsAtOnce, writeAtOnce } from './write-rules.ts';

/** Plans that are made anew because the rules have changed; then everything happens in one long transaction. */
const planLimit = 3;
const leaseRetryMs = 25;
/** Longest wait for another replacement of the same policy. */
const leaseWaitMs = 60_000;

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
  const { store } = context;
  const { id: policyId = '' } = call.params;
  const compiled = await compileRules(rangesOf(wanted));
  const replacement = { context, call, policyId, wanted, compiled, after: await stateOf(wanted) };
  const atOnce = (transaction: Transaction) => replaceInOneWrite(replacement, transaction);
  if (wanted.inOrder.length <= rowsAtOnce) {
    const counts = await store.write(call.actor, async (transaction) =>
      (await isLarge(transaction, policyId)) ? undefined : atOnce(transaction),
    );
    if (counts !== undefined) return counts;
  }
  for (let plans = 0; plans < planLimit; plans++) {
    const counts = await replaceByPlan(replacement);
    if (counts !== undefined) return counts;
  }
  return store.write(call.actor, atOnce);
}

async function isLarge(transaction: Transaction, policyId: string): Promise<boolean> {
  const sql = `SELECT id FROM ip_policy_rules WHERE ip_policy_id = $1 LIMIT 1 OFFSET ${rowsAtOnce}`;
  return (await transaction.all(sql, [policyId])).length > 0;
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

/**
 * Plans outside of any transaction, and writes only if the plan still holds then; undefined where it does not. This plan
 * says nothing of sides: rules change them without a trace in the change log.
 */
async function replaceByPlan(replacement: Replacement): Promise<Counts | undefined> {
  const { context, policyId, wanted } = replacement;
  const small = await planWithin(rowsAtOnce, context.store.queries, policyId, wanted);
  if (small !== undefined) return writeIfCurrent(replacement, small);
  const lease = await waitForLease(replacement);
  try {
    return await replaceInLease(replacement, lease);
  } catch (error) {
    if (error instanceof sides.LeaseLostError) return undefined;
    throw error;
  } finally {
    await leaveToSweeper(replacement, lease);
  }
}

/** Plans anew: only while the lease is held, and nothing is left on the hidden side, does a rule stay on its side. */
async function replaceInLease(replacement: Replacement, lease: Lease): Promise<Counts | undefined> {
  const { context, call, policyId, wanted } = replacement;
  const { store } = context;
  const { accountId } = call.caller;
  // A policy that was deleted meanwhile has a lease too: that of its sweeper.
  await checkPolicy(replacement, store.queries);
  if (lease.needsSweep) await sides.sweep(store, lease);
  const plan = await planReplacement(store.queries, policyId, wanted);
  if (isSmall(plan)) return writeIfCurrent(replacement, plan);
  // The slices that the plan was read in may be of several lists.
  const changesAfter: Transaction['changesAfter'] = (version, kinds, limit) =>
    readAccountChanges(store.queries, accountId, version, kinds, limit);
  if (await isOutdated(changesAfter, policyId, plan)) return undefined;
  checkIfMatch(call, plan.before);
  await prepareOnHiddenSide(store, { accountId, policyId }, plan, lease);
  return writeIfCurrent(replacement, plan, lease);
}

function isSmall({ gone, fresh }: RulePlan): boolean {
  return gone.length + fresh.length <= rowsAtOnce;
}

function writeIfCurrent(replacement: Replacement, plan: RulePlan, lease?: Lease): Promise<Counts | undefined> {
  const { context, call, policyId, wanted } = replacement;
  return context.store.write(call.actor, async (transaction) => {
    await checkPolicy(replacement, transaction);
    if (await isOutdated(transaction.changesAfter, policyId, plan)) return undefined;
    if (lease !== undefined && !(await isPrepared(transaction, lease, wanted))) return undefined;
    return finish(replacement, transaction, plan, lease);
  });
}

async function waitForLease(replacement: Replacement): Promise<Lease> {
  const { context, call, policyId } = replacement;
  const { store } = context;
  const { accountId } = call.caller;
  const endMs = performance.now() + leaseWaitMs;
  while (performance.now() < endMs) {
    // Looked for here, because a policy that does not exist cannot be leased.
    await checkPolicy(replacement, store.queries);
    const lease = await sides.takeLease(store, accountId, policyId);
    if (lease !== undefined) return lease;
    await sleep(leaseRetryMs);
  }
  throw new UserError(lostRace);
}

async function leaveToSweeper({ context: { store, services } }: Replacement, lease: Lease): Promise<void> {
  try {
    await sides.abandon(store, lease);
    services.get(ruleSweeper).look();
  } catch {
    // The sweeper has the lease already, or gets it when it expires.
  }
}

type Named = Pick<Replacement, 'context' | 'call' | 'policyId'>;

/** To be called before the work begins, and again in the write: a caller without the right must not even hold the lease. */
export async function checkPolicy({ context, call, policyId }: Named, queries: Queries): Promise<void> {
  const { referables, services } = context;
  if (!(await referables.exists(queries, 'ip_policy', call.caller.accountId, policyId))) {
    throw new UserError(notFound, { noun: 'IP policy', id: quote(policyId) });
  }
  await checkMayWritePolicy(services, queries, call.caller, policyId);
}

/** Puts the plan in force. Where it was prepared, under a lease, this takes a few statements however large it is. */
async function finish(
  { context: { services }, call, policyId, wanted, compiled, after }: Replacement,
  transaction: Transaction,
  plan: RulePlan,
  lease?: Lease,
): Promise<Counts> {
  const { accountId } = call.caller;
  checkIfMatch(call, plan.before);
  const counts = { added: plan.fresh.length, removed: plan.gone.length, kept: plan.kept.length };
  if (counts.added + counts.removed > 0) {
    if (lease === undefined) await writeAtOnce(transaction, { accountId, policyId }, plan);
    else await sides.switchSides(transaction, lease);
    transaction.record({
      accountId,
      kind: 'ip_policy',
      id: policyId,
      before: JSON.stringify({ id: policyId, rules: plan.count }),
      after: JSON.stringify({ id: policyId, rules: wanted.inOrder.length, replaced: counts }),
      cascades: true,
      payload: compiled,
    });
  }
  setEtag(call, after);
  await services.get(lockoutGuard).check(transaction, call);
  return counts;
}
