import { AsyncLocalStorage } from 'node:async_hooks';

import type { Change } from './change-log.ts';
import type { Transaction } from './transaction.ts';

/** Looks at what a write has done before it is undone. */
export type Inspect = (transaction: Transaction, changes: readonly Change[]) => Promise<void>;

interface UnderWay {
  readonly inspect: Inspect;
  /** What the work has started, such as a timer, may write later: that is no part of it. */
  isOver: boolean;
}

const underWay = new AsyncLocalStorage<UnderWay>();

class Rehearsed extends Error {
  override readonly name = 'Rehearsed';
}

/**
 * Does work whose first write that changes something is inspected, and undone, and which ends with it. Resolves to false where it
 * has changed nothing; any fault of the work is thrown.
 */
export async function rehearseWrite(inspect: Inspect, work: () => Promise<unknown>): Promise<boolean> {
  const rehearsal: UnderWay = { inspect, isOver: false };
  try {
    await underWay.run(rehearsal, work);
    return false;
  } catch (error) {
    if (error instanceof Rehearsed) return true;
    throw error;
  } finally {
    rehearsal.isOver = true;
  }
}

/** The work of a write, or, where it is rehearsed, the same with its end. */
export function asRehearsed<Result>(
  work: (transaction: Transaction) => Promise<Result>,
): (transaction: Transaction) => Promise<Result> {
  const rehearsal = underWay.getStore();
  if (rehearsal === undefined || rehearsal.isOver) return work;
  return async (transaction) => {
    const changes: Change[] = [];
    const record = (change: Change): void => {
      changes.push(change);
      transaction.record(change);
    };
    const result = await work({ ...transaction, record });
    // A write that finds its plan outdated, or too large for one transaction, changes nothing, and another one follows.
    if (changes.length === 0) return result;
    await rehearsal.inspect(transaction, changes);
    throw new Rehearsed('what was written is undone');
  };
}
