import type { Actor } from '../store/write/change-log.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Store } from '../store/store.ts';

/** Does the work, and undoes it: the transaction of a write that throws is undone. */
export async function rehearse<Result>(
  store: Store,
  actor: Actor,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  let done: { readonly result: Result } | undefined;
  const rehearsed = async (transaction: Transaction): Promise<never> => {
    done = { result: await work(transaction) };
    throw new Rehearsed();
  };
  try {
    return await store.write(actor, rehearsed);
  } catch (error) {
    if (error instanceof Rehearsed && done !== undefined) return done.result;
    throw error;
  }
}

class Rehearsed extends Error {
  override readonly name = 'Rehearsed';
}
