import type { Call } from '../../api/call.ts';
import type { Revertible } from '../../api/reverter.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { RuleColumns } from '../../lib/ip/rule-coverage.ts';
import type { PolicyEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Stored } from '../../store/table.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Past } from '../configuration-kind.ts';
import type { RuleEntry } from '../rule-entries.ts';
import { serviceKey } from '../services.ts';

export interface IpPolicyRules {
  /** Every rule of these policies that contains the address. */
  matching(queries: Queries, policyIds: readonly string[], source: IpAddress): Promise<readonly MatchingRule[]>;
  /** The same for those that the policies of an account had then. Throws `UserError` where they are not kept. */
  matchingPast(
    queries: Queries,
    accountId: string,
    policyIds: readonly string[],
    source: IpAddress,
    past: Past,
  ): Promise<readonly MatchingRule[]>;
  /** Kinds in the change log that change the rules of a policy. */
  readonly changeKinds: readonly string[];
  /** The rules of a policy as gateways have them; undefined: there is none. The queries must be of one state. */
  entry(queries: Queries, policyId: string): Promise<PolicyEntry | undefined>;
  /** All rules of a policy, without their texts; undefined if there are more than `most`. The queries must be of one state. */
  columns(queries: Queries, policyId: string, most: number): Promise<RuleColumns | undefined>;
  /** The rule of a policy with this CIDR, in canonical form. */
  withCidr(queries: Queries, policyId: string, cidr: string): Promise<MatchingRule | undefined>;
  /** All policies of an account, and which of them others name, by the id of each of these. */
  uses(queries: Queries, accountId: string): Promise<PolicyUses>;
  hasAny(queries: Queries, policyId: string): Promise<boolean>;
  /** Deletes the rules of a policy that is deleted in this transaction. Returns them as parts of that change. */
  deleteAll(transaction: Transaction, policyId: string): Promise<string | undefined>;
}

export interface PolicyUses {
  readonly policyIds: readonly string[];
  readonly users: ReadonlyMap<string, readonly string[]>;
}

/** Sets of rules: how they are written, and the deletion, in the background, of those that are not in force. */
export interface RuleSets {
  /** Rows that are written in one transaction that everybody else waits for; PostgreSQL takes at most 65,535 parameters. */
  rowsAtOnce: number;
  /** Rows in one of many short transactions, of a few milliseconds on SQLite: a power of two. */
  rowsInStep: number;
  /** Looks for sets to delete now. */
  look(): void;
  /** Gives up a set that was prepared. */
  discard(set: number): Promise<void>;
  start(log: { error(fields: object, message: string): void }): AsyncDisposable;
}

/** The rules of a policy as the list that a configuration has. */
export interface RuleLists {
  /** In canonical form: sorted, and as short as each can be written. */
  accept(rules: readonly RuleEntry[]): Promise<readonly RuleEntry[]>;
  /** In the same form. */
  read(queries: Queries, policyId: string): Promise<readonly RuleEntry[]>;
  /** Those that the policy had then, in the same form. */
  readPast(queries: Queries, policy: Stored, past: Past): Promise<readonly RuleEntry[]>;
  /** Gives the policy exactly these rules, which are in canonical form, within the transaction. */
  replace(transaction: Transaction, call: Call, policyId: string, rules: readonly RuleEntry[]): Promise<void>;
  /** Undoes changes of many rules at once, by their parts. */
  readonly reverter: NonNullable<Revertible<never>['parts']>;
}

export interface MatchingRule {
  readonly id: string;
  readonly ip_policy_id: string;
  readonly cidr: string;
  readonly action: 'allow' | 'deny';
}

export const ipPolicyRuleSearch = serviceKey<IpPolicyRules>('IP policy rules');
export const ruleLists = serviceKey<RuleLists>('lists of rules');
export const ruleSets = serviceKey<RuleSets>('sets of rules');

/** The verdict of the rules of one restriction or module on an address. */
export interface Judgement {
  readonly allowed: boolean;
  /** The rule that decided; undefined when none matches, which refuses. */
  readonly rule: MatchingRule | undefined;
}

/**
 * All rules of all policies together: allowed if an allow rule matches and no deny rule does, as `AccessTable.allows`
 * decides on traffic. `matching` holds every rule that contains the address; the narrowest of the deciding kind is named.
 */
export function judge(policyIds: readonly string[], matching: readonly MatchingRule[]): Judgement {
  const own = matching.filter(({ ip_policy_id }) => policyIds.includes(ip_policy_id));
  const narrowest = own.toSorted((a, b) => prefixLength(b) - prefixLength(a));
  const denied = narrowest.find(({ action }) => action === 'deny');
  if (denied !== undefined) return { allowed: false, rule: denied };
  const rule = narrowest.find(({ action }) => action === 'allow');
  return { allowed: rule !== undefined, rule };
}

function prefixLength({ cidr }: MatchingRule): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
