import { randomInt } from 'node:crypto';

import { withText } from '../../../api/body/text-fields.ts';
import { chunks } from '../../../lib/chunks.ts';
import { toTimestamp } from '../../../lib/ids.ts';
import type { ObservationWriter, Transaction } from '../../../store/write/transaction.ts';
import type { Store } from '../../../store/store.ts';
import { hasText } from '../rule-list.ts';
import type { WantedRule } from '../rule-list.ts';
import { mostRules, toParts } from '../rule-parts.ts';
import type { RuleSets } from '../service.ts';
import { countRules, ipPolicyRules, ruleSetSql } from '../table.ts';
import type { IpPolicyRule } from '../table.ts';
import type { RulePlan } from './rule-plan.ts';

/*
 * The rules of a policy are a set, and the policy names the set that is in force. Thousands of rules cannot be replaced in
 * one short transaction, and a long one makes every other writer wait. So a new set is written by many short transactions,
 * of which nobody sees anything; then one short transaction, which the change log has, lets the policy name it.
 *
 * Sets that are not in force stand in `ip_policy_rule_sets`, with the time after which they are deleted. Whoever prepares
 * one moves that time on with each step: a process that dies leaves a set whose time passes.
 */

/** Far longer than a step takes. */
const keepMs = 60_000;
/** Interval of looking for what processes that died have left. */
const lookEveryMs = 60_000;
/** The `delete_after` of a set that is deleted by now: nobody may go on to prepare it. */
const atOnce = '';

export interface Owner {
  readonly accountId: string;
  readonly policyId: string;
}

interface RuleDifference extends Pick<RulePlan, 'gone'> {
  readonly fresh: readonly (WantedRule | IpPolicyRule)[];
}

/** Returns the set of the policy; one that never had a rule gets one. */
export async function ruleSetOf(transaction: Transaction, policyId: string): Promise<number> {
  const [[known = null] = []] = await transaction.all('SELECT rule_set FROM ip_policies WHERE id = $1', [policyId]);
  if (known !== null) return Number(known);
  const made = newSet();
  await nameSet(transaction, policyId, made);
  return made;
}

/** Writes the rules of the plan as a new set, in short transactions; undefined where the plan, or the set, is lost meanwhile. */
export async function prepareSet(
  store: Store,
  owner: Owner,
  plan: RulePlan,
  sets: Pick<RuleSets, 'rowsInStep' | 'discard'>,
): Promise<number | undefined> {
  const set = newSet();
  let isWhole = false;
  try {
    isWhole = await writeSet(store, owner, plan, set, sets.rowsInStep);
  } finally {
    // Should it fail, the set is deleted when its time has passed.
    if (!isWhole) await sets.discard(set).catch(() => {});
  }
  return isWhole ? set : undefined;
}

async function writeSet(
  store: Store,
  owner: Owner,
  { kept, fresh }: RulePlan,
  set: number,
  rowsInStep: number,
): Promise<boolean> {
  const step = (work: (writer: ObservationWriter) => Promise<boolean>) =>
    store.writeUnlogged(async (writer) => (await renew(writer, set)) && work(writer), owner.accountId);
  await store.writeUnlogged(async (writer) => {
    await writer.run('INSERT INTO ip_policy_rule_sets (set_id, delete_after) VALUES ($1, $2)', [set, inMs(keepMs)]);
  }, owner.accountId);
  for (const ids of chunks(kept, rowsInStep))
    if (!(await step((writer) => copyRules(writer, owner, set, ids)))) return false;
  for (const rules of chunks(fresh, rowsInStep)) {
    const documents = toDocuments(owner, rules);
    const isWritten = await step(async (writer) => {
      await ipPolicyRules.insertMany(writer, documents, [set]);
      await countRules(writer, owner.accountId, documents.length);
      return true;
    });
    if (!isWritten) return false;
  }
  return true;
}

/** True if the set that was prepared can be put in force in this transaction. */
export async function isReady(transaction: Transaction, set: number): Promise<boolean> {
  const sql = 'SELECT set_id FROM ip_policy_rule_sets WHERE set_id = $1 AND delete_after <> $2';
  return (await transaction.all(sql, [set, atOnce])).length > 0;
}

export async function putInForce(transaction: Transaction, policyId: string, set: number): Promise<void> {
  await retireSet(transaction, policyId);
  await transaction.run('DELETE FROM ip_policy_rule_sets WHERE set_id = $1', [set]);
  await nameSet(transaction, policyId, set);
}

/** Leaves the set of a policy, which gets another or is deleted in this transaction, to be deleted. */
export async function retireSet(transaction: Transaction, policyId: string): Promise<void> {
  await transaction.run(
    `INSERT INTO ip_policy_rule_sets (set_id, delete_after)
     SELECT rule_set, $2 FROM ip_policies WHERE id = $1 AND rule_set IS NOT NULL`,
    [policyId, atOnce],
  );
}

/** Carries the whole plan out within the transaction. Returns the parts of the change. */
export async function writeAtOnce(
  transaction: Transaction,
  owner: Owner,
  { gone, fresh }: RuleDifference,
  rowsInStep: number,
): Promise<string | undefined> {
  const set = await ruleSetOf(transaction, owner.policyId);
  const isKept = gone.length + fresh.length <= mostRules;
  const added: IpPolicyRule[] = [];
  const removed: IpPolicyRule[] = [];
  let deleted = 0;
  for (const ids of chunks(gone, rowsInStep)) {
    const places = ids.map((_, at) => `$${at + 2}`).join(', ');
    const sql = `DELETE FROM ip_policy_rule_rows WHERE set_id = $1 AND id IN (${places}) RETURNING document`;
    const rows = await transaction.all(sql, [set, ...ids]);
    deleted += rows.length;
    if (isKept) removed.push(...rows.map((row) => ipPolicyRules.parse(row)));
  }
  if (deleted !== gone.length)
    throw new Error(`${gone.length - deleted} rules of ${owner.policyId} went without a trace`);
  for (const rules of chunks(fresh, rowsInStep)) {
    const documents = toDocuments(owner, rules);
    await ipPolicyRules.insertMany(transaction, documents, [set]);
    if (isKept) added.push(...documents);
  }
  await countRules(transaction, owner.accountId, fresh.length - gone.length);
  return isKept ? toParts({ added, removed }) : undefined;
}

/** Deletes sets that are not in force: at the start, when it is asked to, and once a minute. */
export function createRuleSets(store: Store): RuleSets {
  const state = { isStarted: false };
  let isAsked = false;
  let running: Promise<void> | undefined;
  let report: (error: unknown) => void = () => {};

  const run = async () => {
    while (isAsked && state.isStarted) {
      isAsked = false;
      try {
        const due = await store.queries.all(`SELECT set_id FROM ip_policy_rule_sets WHERE ${isDue(1)}`, dueTimes());
        for (const [set] of due) while (state.isStarted && (await deleteSlice(Number(set))));
      } catch (error) {
        report(error);
      }
    }
    running = undefined;
  };
  const look = () => {
    isAsked = true;
    if (state.isStarted) running ??= run();
  };
  const sets: RuleSets = {
    rowsAtOnce: 1_024,
    rowsInStep: 256,
    look,
    async discard(set) {
      await store.writeUnlogged(async (writer) => {
        await writer.run('UPDATE ip_policy_rule_sets SET delete_after = $2 WHERE set_id = $1', [set, atOnce]);
      });
      look();
    },
    start(log) {
      state.isStarted = true;
      report = (error) => {
        log.error({ err: error }, 'rules that are in force no longer could not be deleted; trying again');
      };
      store.follow({
        changed(changes) {
          if (changes.some(({ kind, cascades }) => kind === 'ip_policy' && cascades)) look();
        },
        reset() {},
      });
      const timer = setInterval(look, lookEveryMs).unref();
      look();
      return {
        async [Symbol.asyncDispose]() {
          state.isStarted = false;
          clearInterval(timer);
          await running;
        },
      };
    },
  };
  return sets;

  /** False where nothing of the set is left, or it has been renewed meanwhile. */
  function deleteSlice(set: number): Promise<boolean> {
    return store.writeUnlogged(async (writer) => {
      const claim = `UPDATE ip_policy_rule_sets SET delete_after = $1 WHERE set_id = $2 AND ${isDue(3)}`;
      if ((await writer.run(claim, [atOnce, set, ...dueTimes()])) === 0) return false;
      const deleted = await writer.all(
        `DELETE FROM ip_policy_rule_rows WHERE set_id = $1 AND cidr IN
         (SELECT cidr FROM ip_policy_rule_rows WHERE set_id = $1 ORDER BY cidr LIMIT $2) RETURNING account_id`,
        [set, sets.rowsInStep],
      );
      // A set is one of a single account.
      const [first] = deleted;
      if (first !== undefined) {
        await countRules(writer, String(first[0]), -deleted.length);
        return true;
      }
      await writer.run('DELETE FROM ip_policy_rule_sets WHERE set_id = $1', [set]);
      return false;
    });
  }
}

/** A time that is later than any that is given now comes from a clock that was wrong, and counts for nothing. */
function isDue(place: number): string {
  return `(delete_after <= $${place} OR delete_after > $${place + 1})`;
}

function dueTimes(): readonly string[] {
  return [inMs(0), inMs(2 * keepMs)];
}

async function nameSet(transaction: Transaction, policyId: string, set: number): Promise<void> {
  await transaction.run('UPDATE ip_policies SET rule_set = $2 WHERE id = $1', [policyId, set]);
}

async function renew(writer: ObservationWriter, set: number): Promise<boolean> {
  const sql = 'UPDATE ip_policy_rule_sets SET delete_after = $2 WHERE set_id = $1 AND delete_after <> $3';
  return (await writer.run(sql, [set, inMs(keepMs), atOnce])) > 0;
}

/** False where one of them is gone, or the policy has another set by now. */
async function copyRules(
  writer: ObservationWriter,
  { accountId, policyId }: Owner,
  set: number,
  ids: readonly string[],
): Promise<boolean> {
  const places = ids.map((_, at) => `$${at + 3}`).join(', ');
  const copied = await writer.run(
    `INSERT INTO ip_policy_rule_rows (id, account_id, document, cidr, action, set_id)
     SELECT id, account_id, document, cidr, action, CAST($2 AS BIGINT) FROM ip_policy_rule_rows
     WHERE set_id = ${ruleSetSql('$1')} AND id IN (${places})`,
    [policyId, set, ...ids],
  );
  await countRules(writer, accountId, copied);
  return copied === ids.length;
}

/** A rule that comes back stays what it was. */
function toDocuments({ accountId, policyId }: Owner, rules: RuleDifference['fresh']): readonly IpPolicyRule[] {
  return rules.map((rule) => {
    if ('id' in rule) return rule;
    const { id, account_id, created_at } = ipPolicyRules.newDocument(accountId);
    const bare = { id, account_id, created_at, cidr: rule.cidr, ip_policy_id: policyId, action: rule.action };
    return hasText(rule) ? withText(bare, rule) : bare;
  });
}

/** No number is given twice: a process that is slow must not write to the set of another. */
function newSet(): number {
  return randomInt(1, 2 ** 48 - 1);
}

function inMs(fromNowMs: number): string {
  return toTimestamp(Date.now() + fromNowMs);
}
