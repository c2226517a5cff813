import type { Call } from '../../api/call.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Past } from '../configuration-kind.ts';
import { serviceKey } from '../services.ts';

export interface IpRestrictions {
  ofType(queries: Queries, accountId: string, type: RestrictionType): Promise<readonly RestrictionSummary[]>;
  /** Those that there were then. */
  ofTypePast(
    queries: Queries,
    accountId: string,
    type: RestrictionType,
    past: Past,
  ): Promise<readonly RestrictionSummary[]>;
  /** Its kind in the change log. */
  readonly changeKind: string;
  descriptionOf(accountId: string, id: string): Promise<string | undefined>;
  /** None for one that is not there. */
  policiesOf(accountId: string, id: string): Promise<readonly string[]>;
}

export interface RestrictionSummary {
  readonly id: string;
  readonly enforced: boolean;
  readonly ip_policy_ids: readonly string[];
}

export interface LockoutGuard {
  /** Throws if, as the database now stands inside the transaction, the caller's next call would be refused. */
  check(transaction: Transaction, call: Call): Promise<void>;
}

export interface Warnings {
  /** Counts that a restriction which is not enforced would have refused this source. Cheap: called for every request. */
  warned(restrictionIds: readonly string[], source: IpAddress): void;
  /** Writes the counts that are only in memory so far. */
  flush(): Promise<void>;
}

export const ipRestrictionSearch = serviceKey<IpRestrictions>('IP restrictions');
export const lockoutGuard = serviceKey<LockoutGuard>('lock-out guard');
export const warnings = serviceKey<Warnings>('warnings');
