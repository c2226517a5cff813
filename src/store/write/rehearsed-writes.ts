import { AsyncLocalStorage } from 'node:async_hooks';

import type { Change } from './change-log.ts';
import type { Transaction } from './transaction.ts';

/** Looks at what a write has done before it is undone. */
export type Inspect = (transaction: Transaction, changes: readonly Change[]) => Promise<void>;

const inspecting = new AsyncLocalStorage<Inspect>();

class Rehearsed extends Error {
  override readonly name = 'Rehearsed';
}

/**
 * Does work whose first write is inspected, and undone, and which ends with it. Resolves to false where it has written nothing; any
 * fault of the work is thrown.
 */
export async function rehearseWrite(inspect: Inspect, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await inspecting.run(inspect, work);
    return false;
  } catch (error) {
    if (error instanceof Rehearsed) return true;
    throw error;
  }
}

/** The work of a write, or, where it is rehearsed, the same with its end. */
export function asRehearsed<Result>(
  work: (transaction: Transaction) => Promise<Result>,
): (transaction: Transaction) => Promise<Result> {
  const inspect = inspecting.getStore();
  if (inspect === undefined) return work;
  return async (transaction) => {
    const changes: Change[] = [];
    const record = (change: Change): void => {
      changes.push(change);
      transaction.record(change);
    };
    await work({ ...transaction, record });
    await inspect(transaction, changes);
    throw new Rehearsed('what was written is undone');
  };
}
