import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { fieldRequired, notFound, preconditionFailed } from '../../api/errors.ts';
import { checkIfMatch, setEtag } from '../../api/etag.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { withText } from '../../api/text-fields.ts';
import type { TextFields } from '../../api/text-fields.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { nextTurn } from '../../lib/next-turn.ts';
import type { Row } from '../../store/database.ts';
import type { Transaction } from '../../store/group-commit.ts';
import { policyProtected } from '../ip-policies/errors.ts';
import { wouldLockOut } from '../ip-restrictions/errors.ts';
import { lockoutGuard } from '../ip-restrictions/service.ts';
import { checkMayWritePolicy } from '../policy-protection.ts';
import type { ResourceContext } from '../resource.ts';
import type { RulesPayload } from './compile.ts';
import { hostBitsSet, invalidCidr, invalidRuleLine, maskMissing, tooManyRules, unknownAction } from './errors.ts';
import { acceptRules, parseRuleList, ReplaceRules } from './rule-list.ts';
import type { RuleList, WantedRule } from './rule-list.ts';
import { ipPolicyRules } from './table.ts';
import type { IpPolicyRule } from './table.ts';

const bodyLimitBytes = 32 * 1024 * 1024;
/** Rows in one statement; PostgreSQL takes at most 65,535 parameters. */
const rowsAtOnce = 512;

export const RulesReplaced = Type.Object(
  {
    added: Type.Integer({ description: 'Rules that are new.' }),
    removed: Type.Integer({ description: 'Rules that are gone.' }),
    kept: Type.Integer({ description: 'Rules that were there already; they keep their ids.' }),
  },
  { $id: 'IpPolicyRulesReplaced' },
);

export function replaceRulesOperation({ store, services, referables }: ResourceContext): Operation {
  return operation({
    rights: 'unprotected',
    method: 'PUT',
    path: '/ip_policies/{id}/rules',
    operationId: 'IpPolicyRulesReplace',
    summary: 'Replace all rules of an IP policy',
    description:
      'At once and as a whole: traffic never sees half of the list. Send a JSON list, or plain text with one CIDR a line ' +
      '("!" before a CIDR means deny, "#" starts a comment). Rules that are kept keep their ids.',
    tag: 'IP policies',
    body: ReplaceRules,
    bodyForm: 'list',
    bodyLimit: bodyLimitBytes,
    bodyTypes: ['application/json', 'text/plain'],
    parseBody: parseRuleList,
    status: 200,
    response: RulesReplaced,
    accepts: ['IfMatch', 'AllowLockout'],
    errors: [
      notFound,
      invalidCidr,
      hostBitsSet,
      tooManyRules,
      maskMissing,
      unknownAction,
      wouldLockOut,
      policyProtected,
      duplicateEntry,
      fieldRequired,
      invalidRuleLine,
      preconditionFailed,
    ],
    handle: async (call) => {
      // Validated before the write begins, so that other writes need not wait for it.
      const wanted = acceptRules(call.body);
      return store.write(call.actor, async (transaction) => {
        const { id = '' } = call.params;
        if (!(await referables.exists(transaction, 'ip_policy', call.caller.accountId, id))) {
          throw new UserError(notFound, { noun: 'IP policy', id: quote(id) });
        }
        await checkMayWritePolicy(services, transaction, call.caller, id);
        const counts = await replaceRules(transaction, call, id, wanted);
        setEtag(call, stateOf(wanted.inOrder));
        await services.get(lockoutGuard).check(transaction, call);
        return counts;
      });
    },
  });
}

/** A rule as it is stored; its texts are read only where they are needed. */
type StoredRule = Pick<IpPolicyRule, 'id' | 'cidr' | 'action'> & TextFields;

async function replaceRules(
  transaction: Transaction,
  call: Call,
  policyId: string,
  wanted: RuleList,
): Promise<{ added: number; removed: number; kept: number }> {
  const { accountId } = call.caller;
  const existing = await readRules(transaction, policyId, wanted.inOrder.some(hasText));
  if (call.ifMatch !== undefined) checkIfMatch(call, stateOf(existing.toSorted(byCidr)));
  const kept = new Set<string>();
  const gone: string[] = [];
  for (const rule of existing) {
    if (isKept(rule, wanted.byCidr.get(rule.cidr))) kept.add(rule.cidr);
    else gone.push(rule.id);
  }
  const fresh = kept.size === 0 ? wanted.inOrder : wanted.inOrder.filter(({ cidr }) => !kept.has(cidr));
  const counts = { added: fresh.length, removed: gone.length, kept: kept.size };
  if (gone.length + fresh.length > 0) {
    for (const chunk of chunks(gone)) await deleteRules(transaction, chunk);
    for (const chunk of chunks(fresh)) await insertRules(transaction, accountId, policyId, chunk);
    transaction.record({
      accountId,
      kind: 'ip_policy',
      id: policyId,
      before: JSON.stringify({ id: policyId, rules: existing.length }),
      after: JSON.stringify({ id: policyId, rules: wanted.inOrder.length, replaced: counts }),
      cascades: true,
      payload: wanted.inOrder.map(({ range }) => range) satisfies RulesPayload,
    });
  }
  return counts;
}

/** Reads the rules in the order of the index on CIDRs; databases sort texts in their own ways. */
async function readRules(
  transaction: Transaction,
  policyId: string,
  withTexts: boolean,
): Promise<readonly StoredRule[]> {
  const columns = withTexts ? 'document' : 'id, cidr, action';
  const sql = `SELECT ${columns} FROM ip_policy_rules WHERE ip_policy_id = $1 ORDER BY cidr`;
  const rows = await transaction.all(sql, [policyId]);
  return rows.map((row) => (withTexts ? ipPolicyRules.parse(row) : toRule(row)));
}

function toRule([id, cidr, action]: Row): StoredRule {
  return { id: String(id), cidr: String(cidr), action: action === 'deny' ? 'deny' : 'allow' };
}

/** The state that the ETag of the whole list stands for: rules in the order of their CIDRs. */
function stateOf(inOrder: readonly Pick<IpPolicyRule, 'cidr' | 'action'>[]): object {
  return inOrder.map(({ cidr, action }) => `${cidr} ${action}`);
}

function byCidr(left: StoredRule, right: StoredRule): number {
  return left.cidr < right.cidr ? -1 : 1;
}

/** True if nothing about the rule changes; a text that the list does not give is left as it is. */
function isKept(rule: StoredRule, wanted: WantedRule | undefined): boolean {
  if (wanted === undefined || wanted.action !== rule.action) return false;
  const { description = rule.description, metadata = rule.metadata } = wanted;
  return (description ?? '') === (rule.description ?? '') && (metadata ?? '') === (rule.metadata ?? '');
}

function hasText({ description, metadata }: TextFields): boolean {
  return description !== undefined || metadata !== undefined;
}

async function deleteRules(transaction: Transaction, ids: readonly string[]): Promise<void> {
  const places = ids.map((_, at) => `$${at + 1}`).join(', ');
  await transaction.run(`DELETE FROM ip_policy_rules WHERE id IN (${places})`, ids);
  await nextTurn();
}

async function insertRules(
  transaction: Transaction,
  accountId: string,
  policyId: string,
  wanted: readonly WantedRule[],
): Promise<void> {
  const rules = wanted.map((rule): IpPolicyRule => {
    const { id, account_id, created_at } = ipPolicyRules.newDocument(accountId);
    const bare = { id, account_id, created_at, cidr: rule.cidr, ip_policy_id: policyId, action: rule.action };
    return hasText(rule) ? withText(bare, rule) : bare;
  });
  await ipPolicyRules.insertMany(transaction, rules);
  await nextTurn();
}

/** Splits into powers of two, so that lists of all lengths share a handful of prepared statements. */
function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const parts: (readonly Item[])[] = [];
  let size = rowsAtOnce;
  for (let at = 0; at < items.length; at += size) {
    while (size > items.length - at) size /= 2;
    parts.push(items.slice(at, at + size));
  }
  return parts;
}
