import { createHash } from 'node:crypto';

import type { TextFields } from '../../../api/body/text-fields.ts';
import { chunks } from '../../../lib/chunks.ts';
import { Pace } from '../../../lib/pace.ts';
import { readVersion } from '../../../store/write/change-log.ts';
import type { Transaction } from '../../../store/write/transaction.ts';
import type { Queries, Row } from '../../../store/database.ts';
import { policyOf } from '../compile.ts';
import { readRules, rulesAtOnce } from '../read-rules.ts';
import type { RuleList, WantedRule } from '../rule-list.ts';
import { ipPolicyRules } from '../table.ts';
import type { IpPolicyRule } from '../table.ts';

/** A rule as it is stored; its texts are read only where they are needed. */
type StoredRule = Pick<IpPolicyRule, 'id' | 'cidr' | 'action'> & TextFields;

/** The difference between the rules that a policy has and those that it is to have. */
export interface RulePlan {
  /** The plan holds as long as no later version has changed the rules of the policy. */
  readonly version: number;
  /** The state that the ETag of the list before stands for. */
  readonly before: ListState;
  /** Ids of rules that stay. */
  readonly kept: readonly string[];
  /** Ids of rules that go. */
  readonly gone: readonly string[];
  readonly fresh: readonly WantedRule[];
}

/** A list of rules, in the order of their CIDRs. */
interface ListState {
  readonly digest: string;
}

/** Changes of an account that are looked through for those of one policy; more count as one of them. */
const changesLookedAt = 1_000;

/** Reads the rules of the policy in slices, outside or inside a transaction. */
export async function planReplacement(queries: Queries, policyId: string, wanted: RuleList): Promise<RulePlan> {
  const version = await readVersion(queries);
  const digest = createHash('sha256');
  const keptCidrs = new Set<string>();
  const kept: string[] = [];
  const gone: string[] = [];
  for await (const rows of readRules(queries, policyId, wanted.hasTexts ? 'id, action, document' : 'id, action')) {
    let lines = '';
    for (const row of rows) {
      const rule = toRule(row);
      lines += lineOf(rule);
      const stays = isKept(rule, wanted.byCidr.get(rule.cidr));
      if (stays) keptCidrs.add(rule.cidr);
      // Without the texts of the rule: a plan lives on, and would be three times as large with them.
      (stays ? kept : gone).push(rule.id);
    }
    digest.update(lines);
  }
  const fresh = kept.length === 0 ? wanted.inOrder : await without(wanted.inOrder, keptCidrs);
  return { version, before: { digest: digest.digest('base64') }, kept, gone, fresh };
}

async function without(rules: readonly WantedRule[], cidrs: ReadonlySet<string>): Promise<readonly WantedRule[]> {
  const pace = new Pace();
  const left: WantedRule[] = [];
  for (const rule of rules) {
    if (!cidrs.has(rule.cidr)) left.push(rule);
    if (pace.isDue) await pace.giveWay();
  }
  return left;
}

/** Reads the rules of the policy in slices: what an ETag of the list stands for, and how many there are of each action. */
export async function summarizeRules(
  queries: Queries,
  policyId: string,
): Promise<{ readonly state: ListState; readonly totals: Readonly<Record<IpPolicyRule['action'], number>> }> {
  const digest = createHash('sha256');
  const totals = { allow: 0, deny: 0 };
  for await (const rows of readRules(queries, policyId, 'id, action')) {
    let lines = '';
    for (const row of rows) {
      const rule = toRule(row);
      lines += lineOf(rule);
      totals[rule.action] += 1;
    }
    digest.update(lines);
  }
  return { state: { digest: digest.digest('base64') }, totals };
}

/** True if the rules of the policy may have changed since the plan was made, by the changes of its account. */
export async function isOutdated(
  changesAfter: Transaction['changesAfter'],
  policyId: string,
  { version }: RulePlan,
): Promise<boolean> {
  const changes = await changesAfter(version, ['ip_policy', 'ip_policy_rule'], changesLookedAt);
  if (changes.length === changesLookedAt) return true;
  return changes.some(
    (change) => (change.kind === 'ip_policy_rule' || change.cascades) && policyOf(change) === policyId,
  );
}

/** The state that the ETag of the whole list stands for. */
export async function stateOf({ inOrder }: RuleList): Promise<ListState> {
  const digest = createHash('sha256');
  const pace = new Pace();
  for (const rules of chunks(inOrder, rulesAtOnce)) {
    digest.update(rules.map(lineOf).join(''));
    if (pace.isDue) await pace.giveWay();
  }
  return { digest: digest.digest('base64') };
}

function lineOf({ cidr, action }: Pick<IpPolicyRule, 'cidr' | 'action'>): string {
  return `${cidr} ${action}\n`;
}

function toRule([cidr, id, action, document]: Row): StoredRule {
  const { description, metadata } = document === undefined ? {} : ipPolicyRules.parse([document]);
  return {
    id: String(id),
    cidr: String(cidr),
    action: action === 'deny' ? 'deny' : 'allow',
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** True if nothing about the rule changes; a text that the list does not give is left as it is. */
function isKept(rule: StoredRule, wanted: WantedRule | undefined): boolean {
  if (wanted === undefined || wanted.action !== rule.action) return false;
  const { description = rule.description, metadata = rule.metadata } = wanted;
  return (description ?? '') === (rule.description ?? '') && (metadata ?? '') === (rule.metadata ?? '');
}
