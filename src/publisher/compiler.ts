import type { SnapshotEntry } from '../snapshot/contract.ts';
import type { Change } from '../store/write/change-log.ts';
import type { Queries } from '../store/database.ts';

/** Consecutive changes, in the order in which they were made, the last of them at the version. */
export interface ChangeBatch {
  readonly changes: readonly Change[];
  readonly version: number;
}

/** Makes the snapshot entries of a resource. */
export interface Compiler {
  readonly kind: SnapshotEntry['kind'];
  /** One of its entries may be very large. */
  readonly mayTakeLong?: true;
  /** Ids of the entries that a change affects. */
  affectedIds(change: Change): readonly string[];
  /**
   * Loads the entries with these ids, or all of them. An id without an entry is gone. The database may be newer than the
   * batch of changes that affects the ids. While some are loaded, others or all of them may be.
   */
  load(queries: Queries, ids: readonly string[] | undefined, batch?: ChangeBatch): Promise<readonly SnapshotEntry[]>;
}
