/** A source whose verdict a change would turn. */
export interface TurnedSource {
  readonly ip: string;
  readonly requests: number;
  /** Edges and endpoints that it came to, most requests first. */
  readonly edgeIds: readonly string[];
  /** Whoever had signed in from there last. */
  readonly person?: string | undefined;
  readonly lastAt: string;
}

/** What a change would turn one way. */
export interface Turned {
  readonly sources: number;
  readonly requests: number;
  /** The sources with most requests. */
  readonly first: readonly TurnedSource[];
}

/** A change, tried on the decisions that are kept. */
export interface TriedVisits {
  readonly since: string;
  /** Decisions that were tried. */
  readonly requests: number;
  readonly refused: Turned;
  readonly admitted: Turned;
  /** Requests of which it cannot be told: something decides that is not kept. */
  readonly unknown: number;
  /** Why, in words. */
  readonly unknownBecause: readonly string[];
  /** Gateways that have told, of all. */
  readonly gateways: { readonly answered: number; readonly all: number; readonly missing: readonly string[] };
  /** Decisions that were not kept, or not reached: figures can only grow. */
  readonly leftOut: number;
}

/** A place that would admit somebody new, or may. */
export interface Admission {
  readonly to: string;
  readonly answer: 'yes' | 'unknown';
  readonly example: string | null;
  readonly text: string;
}

/** The proof over all addresses. */
export interface AdmitsNew {
  readonly answer: 'no' | 'yes' | 'unknown';
  readonly admissions: readonly Admission[];
  readonly total: number;
}

export interface Rehearsal {
  /** not_kept: there are no decisions. not_tried: there may be, but this change was not tried on them. */
  readonly visits: TriedVisits | 'not_kept' | 'not_tried';
  readonly admitsNew: AdmitsNew | undefined;
}

/** Whether the figures are the least that it can be. */
export function isAtLeast({ gateways, leftOut }: TriedVisits): boolean {
  return gateways.answered < gateways.all || leftOut > 0;
}

/** Whether somebody loses by the change; a rehearsal that could not tell is taken for one that does. */
export function isRisky({ visits }: Rehearsal, address: string): boolean {
  return (
    typeof visits === 'string' || visits.refused.sources > 0 || isAtLeast(visits) || isAmong(visits.refused, address)
  );
}

export function isAmong({ first }: Turned, address: string): boolean {
  return first.some(({ ip }) => ip === address);
}
