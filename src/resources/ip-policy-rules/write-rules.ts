import { chunks } from '../../lib/chunks.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { hasText } from './rule-list.ts';
import type { RuleList, WantedRule } from './rule-list.ts';
import type { RulePlan } from './rule-plan.ts';
import { deleteRows, inLease, moveRows, readPrepared, shownSide } from './rule-sides.ts';
import type { Lease } from './rule-sides.ts';
import { bothSides, ipPolicyRules } from './table.ts';
import type { IpPolicyRule } from './table.ts';

/** Rows that are written in one transaction that everybody else waits for; PostgreSQL takes at most 65,535 parameters. */
export const rowsAtOnce = 1_024;
/** Rows in one of many short transactions, of a few milliseconds on SQLite. */
const rowsInStep = 256;

interface Owner {
  readonly accountId: string;
  readonly policyId: string;
}

/**
 * Brings all rules to the side where they belong, in short transactions of which nobody sees anything. The plan must have
 * been made under this lease: whoever held it before has moved rules.
 */
export async function prepareOnHiddenSide(store: Store, owner: Owner, plan: RulePlan, lease: Lease): Promise<void> {
  const shown = shownSide(lease);
  const staying = plan.kept.filter(({ side }) => side === shown).map(({ id }) => id);
  const leaving = plan.gone.filter(({ side }) => side === bothSides).map(({ id }) => id);
  for (const ids of chunks(staying, rowsInStep))
    await inLease(store, lease, (writer) => moveRows(writer, ids, bothSides));
  for (const ids of chunks(leaving, rowsInStep)) await inLease(store, lease, (writer) => moveRows(writer, ids, shown));
  for (const rules of chunks(plan.fresh, rowsInStep)) {
    const documents = toDocuments(owner, rules);
    await inLease(store, lease, (writer) => ipPolicyRules.insertMany(writer, documents, { side: lease.hiddenSide }));
  }
}

/**
 * True if exactly the wanted rules are shown after the change of sides. It reads all of them, in the transaction of that
 * change: a rule that is missing, or one too many, lets somebody in.
 */
export async function isPrepared(queries: Queries, lease: Lease, { inOrder }: RuleList): Promise<boolean> {
  let at = 0;
  for await (const rows of readPrepared(queries, lease)) {
    for (const [cidr, , action] of rows) {
      const wanted = inOrder[at++];
      if (wanted === undefined || wanted.cidr !== cidr || wanted.action !== action) return false;
    }
  }
  return at === inOrder.length;
}

/** Carries the whole plan out within the transaction, whichever sides the rules lie on. */
export async function writeAtOnce(transaction: Transaction, owner: Owner, { gone, fresh }: RulePlan): Promise<void> {
  let deleted = 0;
  const goneIds = gone.map(({ id }) => id);
  for (const ids of chunks(goneIds, rowsInStep)) deleted += await deleteRows(transaction, ids);
  if (deleted !== gone.length)
    throw new Error(`${gone.length - deleted} rules of ${owner.policyId} went without a trace`);
  for (const rules of chunks(fresh, rowsInStep)) await ipPolicyRules.insertMany(transaction, toDocuments(owner, rules));
}

function toDocuments({ accountId, policyId }: Owner, rules: readonly WantedRule[]): readonly IpPolicyRule[] {
  return rules.map((rule) => {
    const { id, account_id, created_at } = ipPolicyRules.newDocument(accountId);
    const bare = { id, account_id, created_at, cidr: rule.cidr, ip_policy_id: policyId, action: rule.action };
    return hasText(rule) ? withText(bare, rule) : bare;
  });
}
