import type { Budget } from '../../lib/cel/run.ts';
import { KeyCounts } from '../../lib/key-counts.ts';

/** Units that all open connections of an account may cost together each time that rules change: some half a second. */
const unitsOfAccount = 20_000_000;

/**
 * Asks open connections again after one change of rules, for which the changes of all accounts wait. Each may cost as much as a
 * visit. When those of an account have cost what they may together, its others end unasked.
 */
export class AskedAgain {
  readonly #spent = new KeyCounts<string>();

  /** Returns until when a connection may stay open, in milliseconds since 1970; 0: it ends now. */
  untilOf({ accountId, budget }: { readonly accountId: string; readonly budget: Budget }, ask: () => number): number {
    if (this.#spent.of(accountId) >= unitsOfAccount) return 0;
    budget.renew();
    const untilMs = ask();
    this.#spent.add(accountId, budget.spent);
    return untilMs;
  }
}
