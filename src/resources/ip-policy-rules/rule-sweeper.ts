import type { Store } from '../../store/store.ts';
import { findUnswept, LeaseLostError, release, sweep, takeLease } from './rule-sides.ts';
import type { RuleSweeper } from './service.ts';

/** Interval of looking for what processes that died have left. */
const lookEveryMs = 60_000;
/** The owner of its steps in the queue of writes: none of the accounts. */
const owner = '';

/** Sweeps the hidden sides of policies: at the start, after every change of many rules, and once a minute. */
export function createRuleSweeper(store: Store): RuleSweeper {
  const state = { isStarted: false };
  let isAsked = false;
  let running: Promise<void> | undefined;
  let report: (error: unknown) => void = () => {};

  const sweepOne = async (policyId: string) => {
    const lease = await takeLease(store, owner, policyId);
    if (lease === undefined) return;
    await sweep(store, lease);
    await release(store, lease);
  };
  const run = async () => {
    while (isAsked && state.isStarted) {
      isAsked = false;
      try {
        for (const policyId of await findUnswept(store.queries)) if (state.isStarted) await sweepOne(policyId);
      } catch (error) {
        // A lost lease means that another process sweeps.
        if (!(error instanceof LeaseLostError)) report(error);
      }
    }
    running = undefined;
  };
  const look = () => {
    isAsked = true;
    if (state.isStarted) running ??= run();
  };
  return {
    look,
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
}
