import type { SnapshotEntry } from '../snapshot/contract.ts';
import type { Change } from '../store/change-log.ts';
import type { Queries } from '../store/database.ts';

/** Changes in the order in which they were made: all there are up to the version, from one that was told before. */
export interface ChangeBatch {
  readonly changes: readonly Change[];
  readonly version: number;
}

/** How a resource becomes part of the snapshot. */
export interface Compiler {
  readonly kind: SnapshotEntry['kind'];
  /** Ids of the entries that a change touches. */
  affectedIds(change: Change): readonly string[];
  /**
   * The entries with these ids, or all of them. An id that gives no entry is gone. What the database says may be newer
   * than the news that touch the ids.
   */
  load(queries: Queries, ids: readonly string[] | undefined, news?: ChangeBatch): Promise<readonly SnapshotEntry[]>;
}
