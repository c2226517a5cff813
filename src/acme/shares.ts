import type { DueJob } from './plan.ts';

/** An order of the last hour. */
export interface PastOrder {
  /** Undefined for one that an older version has noted. */
  readonly accountId: string | undefined;
  readonly isRenewal: boolean;
}

export interface ShareInput {
  /** In the order in which they should be carried out, renewals first. */
  readonly due: readonly DueJob[];
  readonly orders: readonly PastOrder[];
  readonly ordersPerHour: number;
  /** Number of accounts that the installation has. */
  readonly accounts: number;
}

/** A job that waits: the orders of this hour are used up, or the share of its account is. */
export interface HeldJob extends DueJob {
  readonly by: 'all' | 'share';
}

interface Turn {
  /** The job to carry out now. */
  readonly next: DueJob | undefined;
  readonly held: readonly HeldJob[];
}

/** Orders of an hour that new names leave to renewals. */
export function keptForRenewals(ordersPerHour: number): number {
  return Math.min(ordersPerHour - 1, Math.ceil(ordersPerHour / 4));
}

/**
 * Divides the orders of an hour. Renewals go first, and may use all of them; new names leave some to renewals. Of either kind
 * the accounts that want any have equal shares, and one more share is left for an account that comes later. New names of
 * the account that has ordered least go first. An order that was begun may be finished beyond all bounds.
 */
export function divideOrders({ due, orders, ordersPerHour, accounts }: ShareInput): Turn {
  const renewals = new Share(true, ordersPerHour, { due, orders, accounts });
  const names = new Share(false, ordersPerHour - keptForRenewals(ordersPerHour), { due, orders, accounts });
  const held: HeldJob[] = [];
  let next: DueJob | undefined;
  for (const each of due) {
    const { job, isRenewal } = each;
    const by = job.orderUrl === undefined ? (isRenewal ? renewals : names).boundFor(job.accountId) : undefined;
    if (by !== undefined) held.push({ ...each, by });
    else if (next === undefined || (!next.isRenewal && names.of(job.accountId) < names.of(next.job.accountId)))
      next = each;
  }
  return { next, held };
}

/** The orders of one kind, and what each account may have of them. */
class Share {
  /** Orders of the last hour, by account. */
  readonly #used = new Map<string, number>();
  readonly #isUsedUp: boolean;
  readonly #limit: number;

  constructor(isRenewal: boolean, limit: number, { due, orders, accounts }: Omit<ShareInput, 'ordersPerHour'>) {
    for (const { accountId, isRenewal: renewed } of orders) {
      if (accountId !== undefined && renewed === isRenewal) this.#used.set(accountId, this.of(accountId) + 1);
    }
    const claimants = new Set(this.#used.keys());
    for (const each of due) if (each.isRenewal === isRenewal) claimants.add(each.job.accountId);
    const shares = accounts > claimants.size ? claimants.size + 1 : claimants.size;
    this.#isUsedUp = orders.length >= limit;
    this.#limit = Math.ceil(limit / Math.max(1, shares));
  }

  of(accountId: string): number {
    return this.#used.get(accountId) ?? 0;
  }

  boundFor(accountId: string): HeldJob['by'] | undefined {
    if (this.#isUsedUp) return 'all';
    return this.of(accountId) >= this.#limit ? 'share' : undefined;
  }
}
