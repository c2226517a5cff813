import type { DecisionRow } from './columns.ts';
import type { Lines } from './waiting-lines.ts';

export interface StoreOptions {
  readonly folder: string;
  readonly days: number;
  readonly maxBytes: number;
  readonly archive: string | undefined;
}

/** Filters of a list; each one that is given must hold. */
export interface DecisionFilter {
  readonly accountId: string;
  readonly limit: number;
  /** Only rows with a smaller number. */
  readonly before?: number | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly edgeId?: string | undefined;
  /** The first and last address of a network, in halves. */
  readonly source?: SourceRange | undefined;
  readonly verdict?: string | undefined;
  readonly person?: string | undefined;
  readonly rule?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface SourceRange {
  readonly first: { readonly high: bigint; readonly low: bigint };
  readonly last: { readonly high: bigint; readonly low: bigint };
}

export interface DecisionPage {
  /** Newest first. */
  readonly rows: readonly DecisionRow[];
  /** False: the time was over before all files were read; older rows may be missing. */
  readonly isComplete: boolean;
}

export interface Started {
  /** Names this store, also after a restart. */
  readonly gateway: string;
  /** Number of the newest decision in it; 0 where there is none. */
  readonly lastNumber: number;
}

export interface StoreSize {
  readonly bytes: number;
  readonly oldestMs: number | undefined;
}

/** A task for the keeper, which answers with a `KeeperReply` of the same number. */
export type KeeperTask =
  | { readonly task: 'start'; readonly options: StoreOptions }
  | { readonly task: 'append'; readonly lines: Lines; readonly nowMs: number }
  | { readonly task: 'tend'; readonly nowMs: number }
  | { readonly task: 'query'; readonly filter: DecisionFilter }
  | { readonly task: 'close' };

export type KeeperRequest = KeeperTask & { readonly request: number };

export interface KeeperReply {
  readonly request: number;
  /** A sentence, if the task could not be done. */
  readonly fault?: string;
  readonly result?: unknown;
}
