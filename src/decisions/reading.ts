import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import type { QueryLimits } from './messages.ts';

const usualLimits: QueryLimits = { rows: 10_000_000, beginMs: 4_000, endMs: 8_000 };

/** A connection for one question, and whether it has used up its time. */
export interface Reading {
  readonly connection: DuckDBConnection;
  readonly limits: QueryLimits;
  /** True: no further file is to be begun. */
  readonly isLate: () => boolean;
  /** True: a statement was interrupted, whose fault is no other one. */
  readonly isOver: () => boolean;
}

/** Answers a question within its bounds. */
export async function readWithin<Result>(
  instance: DuckDBInstance,
  given: Partial<QueryLimits>,
  read: (reading: Reading) => Promise<Result>,
): Promise<Result> {
  const limits = { ...usualLimits, ...given };
  const beganMs = performance.now();
  const connection = await instance.connect();
  let isOver = false;
  // Again and again: an interrupt between two statements is lost.
  const timer = setInterval(() => {
    isOver = true;
    connection.interrupt();
  }, limits.endMs);
  try {
    return await read({
      connection,
      limits,
      isLate: () => performance.now() - beganMs >= limits.beginMs,
      isOver: () => isOver,
    });
  } finally {
    clearInterval(timer);
    connection.closeSync();
  }
}

/** The fault of a question that was interrupted before it had anything to show. */
export function tookTooLong(cause: unknown): Error {
  return new Error('a query was ended because it took too long', { cause });
}
