import type { Queries, Value } from '../database.ts';
import type { Actor, Change } from './change-log.ts';
import type { ObservedChange } from './observed-changes.ts';

/** The transaction of one write. Its effects are in force, and seen by others, once the write has been answered. */
export interface Transaction extends Queries {
  readonly actor: Actor;
  run(sql: string, parameters?: readonly Value[]): Promise<number>;
  /** Names a change that the write made. A write that ran statements must record at least one. */
  record(change: Change): void;
  /** True for a resource that this very write has made. */
  isNew(id: string): boolean;
  /**
   * Does the work for each item. None may depend on another: where statements travel, those of several items travel
   * together. A fault is the one that is met when the items are done one after another.
   */
  forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void>;
  /** Changes of the account after `version`, of these kinds, at most `limit`: also those that are not committed yet. */
  readonly changesAfter: (version: number, kinds: readonly string[], limit: number) => Promise<readonly Change[]>;
}

/** Writes observations, such as counts, that are no change of the configuration. */
export interface ObservationWriter extends Pick<Transaction, 'all' | 'run'> {
  /** Names a change that other processes must follow at once; most observations are read when somebody asks. */
  record(change: ObservedChange): void;
}
