import type { DecisionRow } from './columns.ts';
import type { Lines } from './waiting-lines.ts';

export interface StoreOptions {
  readonly folder: string;
  readonly days: number;
  readonly maxBytes: number;
  readonly archive: string | undefined;
  readonly queries?: Partial<QueryLimits>;
}

/** Bounds of one query. At least one file is looked at, so that there is always a next page to go on with. */
export interface QueryLimits {
  /** No further file is begun after so many rows. */
  readonly rows: number;
  /** No further file is begun after this time. */
  readonly beginMs: number;
  /** A query is interrupted after this time. */
  readonly endMs: number;
}

/** Filters of a list; each one that is given must hold. */
export interface DecisionFilter {
  readonly accountId: string;
  readonly limit: number;
  /** Only rows with a smaller number. */
  readonly before?: number | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** An edge, or an endpoint of an agent. */
  readonly edgeId?: string | undefined;
  readonly routeId?: string | undefined;
  /** The first and last address of a network, in halves. */
  readonly source?: SourceRange | undefined;
  readonly verdict?: string | undefined;
  /** A module that has refused, or would have. */
  readonly module?: string | undefined;
  readonly person?: string | undefined;
  readonly host?: string | undefined;
  readonly status?: number | undefined;
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
  /** The query was cut off: all rows from this number on have been looked at, and none before. */
  readonly cutAt?: number;
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
