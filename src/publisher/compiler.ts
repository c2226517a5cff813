import type { SnapshotEntry } from '../snapshot/contract.ts';
import type { Change } from '../store/change-log.ts';
import type { Queries } from '../store/database.ts';

/** How a resource becomes part of the snapshot. */
export interface Compiler {
  readonly kind: SnapshotEntry['kind'];
  /** Ids of the entries that a change touches. */
  touchedBy(change: Change): readonly string[];
  /** The entries with these ids, or all of them. An id that gives no entry is gone. */
  load(queries: Queries, ids: readonly string[] | undefined): Promise<readonly SnapshotEntry[]>;
}
