import { overQuota, policiesTooLarge } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { readUsage } from '../../store/usage.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { policyQuota } from '../policy-memory.ts';
import { atPlace } from './entry-place.ts';
import type { Step } from './plan.ts';

type Used = ReadonlyMap<string, number>;

/** More than anything is, and than any account may have. */
const noLimit = 2 ** 52;

/** What is added may take so much of a quota before each step is looked at. */
const nearShare = 0.8;

/**
 * Notes what the steps of a plan add to what quotas count, where the plan is rehearsed in pieces: no piece has all that is
 * created, nor all that is deleted before. To know it of each step takes long on PostgreSQL, and is needed near a quota alone.
 */
export class QuotaMeter {
  readonly isOfEachStep: boolean;
  readonly #accountId: string;
  readonly #added = new Map<Step, Used>();
  #limits: ReadonlyMap<string, number> = new Map();
  #first: Used = new Map();
  #used: Used = new Map();
  #inPiece = new Map<Step, Used>();

  /** At most what all steps add together: some are in several pieces. */
  readonly #most = new Map<string, number>();

  constructor(accountId: string, { ofEachStep }: { readonly ofEachStep: boolean }) {
    this.#accountId = accountId;
    this.isOfEachStep = ofEachStep;
  }

  /** The steps may come near a quota. */
  get isNear(): boolean {
    return this.#most.entries().some(([quota, added]) => {
      const limit = this.#limits.get(quota) ?? noLimit;
      return added > 0 && (this.#first.get(quota) ?? 0) + added > limit * nearShare;
    });
  }

  /** Notes what steps have added that were carried out together. */
  async noteTogether(transaction: Transaction): Promise<void> {
    for (const [quota, change] of await this.#change(transaction))
      if (change > 0) this.#most.set(quota, (this.#most.get(quota) ?? 0) + change);
  }

  /** Begins a piece, which meets no quota: it is undone, and this with it. */
  async begin(transaction: Transaction): Promise<void> {
    const usage = await readUsage(transaction, this.#accountId);
    this.#limits = new Map(usage.map(({ quota, most }) => [quota, most]));
    this.#first = new Map(usage.map(({ quota, used }) => [quota, used]));
    this.#used = this.#first;
    this.#inPiece = new Map();
    await transaction.run('UPDATE account_usage SET most = $2 WHERE account_id = $1', [this.#accountId, noLimit]);
  }

  /** Notes what the step that was carried out last, or a part of it, has added. */
  async note(transaction: Transaction, step: Step): Promise<void> {
    const added = new Map(this.#inPiece.get(step));
    for (const [quota, change] of await this.#change(transaction)) added.set(quota, (added.get(quota) ?? 0) + change);
    this.#inPiece.set(step, added);
    this.#added.set(step, added);
  }

  /** What has been added since the last look. */
  async #change(transaction: Transaction): Promise<Used> {
    const usage = await readUsage(transaction, this.#accountId);
    const before = this.#used;
    this.#used = new Map(usage.map(({ quota, used }) => [quota, used]));
    const changes = usage.map(({ quota, used }) => [quota, used - (before.get(quota) ?? 0)] as const);
    return new Map(changes.filter(([, change]) => change !== 0));
  }

  /** Throws where the steps, in the order in which they are carried out, would meet a quota. */
  async check(steps: readonly Step[]): Promise<void> {
    const all = new Map(this.#first);
    for (const step of steps)
      await atPlace({ kind: step.kind.kind, name: step.name }, async () => {
        for (const [quota, added] of this.#added.get(step) ?? []) {
          const used = all.get(quota) ?? 0;
          const limit = this.#limits.get(quota) ?? noLimit;
          if (added > 0 && used + added > limit) throw this.#refusal(quota, { used, added, limit });
          all.set(quota, used + added);
        }
      });
  }

  #refusal(quota: string, { used, added, limit }: Readonly<Record<'used' | 'added' | 'limit', number>>): UserError {
    const account = this.#accountId;
    return quota === policyQuota
      ? new UserError(policiesTooLarge, { kib: added, others: used, limit, account, quota })
      : new UserError(overQuota, { quota, used, limit, account });
  }
}
