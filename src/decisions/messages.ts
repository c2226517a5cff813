import type { DecisionRow } from './columns.ts';
import type { DurationCounts } from './durations.ts';
import type { PackedDecisions } from './packed-decisions.ts';

export interface StoreOptions {
  readonly folder: string;
  readonly days: number;
  readonly maxBytes: number;
  readonly archive: string | undefined;
  readonly queries?: Partial<QueryLimits>;
  readonly summaries?: Partial<SummaryLimits>;
}

/** When decisions are summed up. */
export interface SummaryLimits {
  /** Closed files with fewer rows are counted when they are read. */
  readonly leastRows: number;
  /** So many closed files at the least, and at the most, have one summary by the hour. */
  readonly least: number;
  readonly most: number;
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

/** What a question is about; each filter that is given must hold. */
export interface Selection {
  readonly accountId: string;
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
  /** A backend, or the endpoint of an agent. */
  readonly backendId?: string | undefined;
  /** One of these must hold. */
  readonly anyOf?: readonly AnyOf[] | undefined;
}

export interface AnyOf {
  readonly dimension: 'edge' | 'route' | 'restriction' | 'backend';
  readonly key: string;
}

/** Asks for a page. */
export interface DecisionFilter extends Selection {
  readonly limit: number;
  /** Only rows with a smaller number. */
  readonly before?: number | undefined;
  /** With it, rows of that number too at gateways whose suffix is smaller. */
  readonly beforeSuffix?: string | undefined;
}

/** Asks for counts by intervals, which begin at whole multiples of the step since 1970. */
export interface SummaryQuestion extends Selection {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** Asks for counts by the hour from here to `toMs` as well. */
  readonly hoursFromMs?: number | undefined;
}

/** Counts of an interval. Those of 0 are left out. */
export interface SummaryPoint {
  readonly atMs: number;
  /** By name: `requests`, `refused`, `warned`, `errors4xx`, `errors5xx`, `bytesIn`, `bytesOut`, and causes of refusals. */
  readonly counts: Readonly<Record<string, number>>;
  /** Durations of what was let through, requests and connections apart. */
  readonly durations: Readonly<Record<'https' | 'tcp', DurationCounts>>;
}

/** From when on everything was counted. */
export interface Reach {
  /** Decisions of the account from here on are there, but for those that were dropped. */
  readonly keptFromMs: number;
  /** When this store began. */
  readonly beganMs: number;
  /** A bound ended the count: what was before this time was not reached, or not all of it. */
  readonly cutAtMs?: number | undefined;
}

export interface SummaryAnswer extends Reach {
  readonly points: readonly SummaryPoint[];
  readonly hours: readonly SummaryPoint[];
  /** As `cutAtMs`, of the hours. */
  readonly hoursCutAtMs?: number | undefined;
}

export const topFields = [
  'source',
  'person',
  'host',
  'path',
  'module',
  'edge',
  'route',
  'restriction',
  'backend',
] as const;
export type TopField = (typeof topFields)[number];

/** Asks for what has most. */
export interface TopQuestion extends Selection {
  readonly fromMs: number;
  readonly toMs: number;
  readonly by: TopField;
  readonly order: 'requests' | 'refused';
  readonly limit: number;
}

export interface TopEntry {
  readonly key: string;
  readonly requests: number;
  readonly refused: number;
}

export interface TopAnswer extends Reach {
  /** Most first. */
  readonly entries: readonly TopEntry[];
  /** So many of each entry may be missing. */
  readonly missedAtMost: number;
  /** Those that are not listed have so many at the most, and what may be missing. */
  readonly leastListed: number;
}

/** Asks how many visits each edge had. */
export interface VisitedEdgesQuestion {
  readonly accountId: string;
  readonly fromMs: number;
  /** Only files that begin before this number. */
  readonly before?: number | undefined;
}

/** How far a question has come that goes through files, newest first. */
interface FilesRead {
  /** A bound ended it: all files that begin at this number or later were read. */
  readonly cutAt?: number;
  /** Time of the oldest decision that was read; `Infinity`: there was none. */
  readonly firstMs: number;
}

export interface VisitedEdges extends FilesRead {
  readonly edges: readonly { readonly id: string; readonly requests: number; readonly minVersion: number }[];
}

/** Asks for visits in groups that are alike to whoever decides about them. */
export interface VisitorsQuestion extends VisitedEdgesQuestion {
  readonly edgeIds: readonly string[];
  /** A version of the configuration: visits that it or a later one decided about are groups of their own. */
  readonly since: number;
  /** True: visits with other hosts, ports and paths are groups of their own. */
  readonly withPaths: boolean;
}

/** What visits have in common beside the source. */
export interface VisitorFacts {
  readonly edgeId: string;
  readonly routeId: string;
  readonly person: string;
  readonly module: string;
  readonly isRefused: boolean;
  /** It went to a backend. */
  readonly hasReached: boolean;
  /** Empty for an unusual one. */
  readonly method: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly isRecent: boolean;
}

/** Groups of visits as columns. */
export interface Visitors extends FilesRead {
  /** One file has more groups than are told: those beyond are left out. */
  readonly isCut: boolean;
  readonly facts: readonly VisitorFacts[];
  /** Index in `facts`. */
  readonly fact: Uint32Array;
  /** Halves of the source as an IPv6 address. */
  readonly high: BigUint64Array;
  readonly low: BigUint64Array;
  readonly requests: Float64Array;
  readonly lastMs: Float64Array;
}

/** Decisions that somebody follows. */
export interface Followed {
  readonly kind: 'https' | 'tcp';
  /** Only those at this path that are about a person. */
  readonly path?: string | undefined;
}

/** Asks for decisions behind a number, oldest first. */
export interface AfterQuestion {
  readonly accountId: string;
  readonly after: number;
  readonly limit: number;
  /** One of these must hold. */
  readonly followed: readonly Followed[];
}

export interface DecisionsAfter {
  readonly rows: readonly DecisionRow[];
  /** There are no others up to this number. */
  readonly seen: number;
  readonly hasMore: boolean;
  /** Decisions behind the place were removed before somebody asked for them. */
  readonly isCut: boolean;
}

/** Questions about decisions, by kind, with their answers. */
export interface Questions {
  readonly list: { readonly asked: DecisionFilter; readonly answer: DecisionPage };
  readonly summary: { readonly asked: SummaryQuestion; readonly answer: SummaryAnswer };
  readonly top: { readonly asked: TopQuestion; readonly answer: TopAnswer };
  readonly edges: { readonly asked: VisitedEdgesQuestion; readonly answer: VisitedEdges };
  readonly visitors: { readonly asked: VisitorsQuestion; readonly answer: Visitors };
  readonly after: { readonly asked: AfterQuestion; readonly answer: DecisionsAfter };
}

export const questionKinds = ['list', 'summary', 'top', 'after'] as const satisfies readonly (keyof Questions)[];
export type QuestionKind = keyof Questions;
export type Asked<Kind extends QuestionKind> = Questions[Kind]['asked'];
export type Answer<Kind extends QuestionKind> = Questions[Kind]['answer'];

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
}

/** The outcome for decisions that were to be appended. */
export interface Appended {
  readonly rows: number;
  /** Decisions that could not be written, by account. */
  readonly dropped: readonly (readonly [accountId: string, rows: number])[];
  /** A sentence, if there are such. */
  readonly fault?: string | undefined;
}

export interface StoreSize {
  readonly bytes: number;
  readonly oldestMs: number | undefined;
  /** Undefined where there is no archive. */
  readonly archive?: ArchiveState;
}

export interface ArchiveState {
  /** Closed files that are to be copied there. */
  readonly waiting: number;
  /** Files that were removed before they could be. */
  readonly lost: number;
  /** Why files cannot be copied for now. */
  readonly fault: string | undefined;
  /** Files that could not be copied, while others can, and are tried again later. */
  readonly aside: number;
  /** Some of them. */
  readonly names: readonly { readonly file: string; readonly cause: string }[];
}

type AskTask = {
  readonly [Kind in QuestionKind]: { readonly task: 'ask'; readonly kind: Kind; readonly asked: Asked<Kind> };
}[QuestionKind];

/** A task for the keeper, which answers with a `KeeperReply` of the same number. */
export type KeeperTask =
  | { readonly task: 'start'; readonly options: StoreOptions }
  | { readonly task: 'append'; readonly packed: PackedDecisions; readonly nowMs: number }
  | { readonly task: 'tend'; readonly nowMs: number }
  | AskTask
  | { readonly task: 'close' };

export type KeeperRequest = KeeperTask & { readonly request: number };

export interface KeeperReply {
  readonly request: number;
  /** A sentence, if the task could not be done. */
  readonly fault?: string;
  readonly result?: unknown;
}
