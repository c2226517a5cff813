import type {
  ConfigurationApplied,
  Rehearsal as TriedVisits,
  RehearsedVisitors,
} from '../../../../client/src/index.ts';

/** What a change would turn one way. */
export type Turned = RehearsedVisitors;

/** A change, tried on the decisions that are kept. */
export type { TriedVisits };

/** The proof over all addresses. */
export type AdmitsNew = NonNullable<ConfigurationApplied['admits_new']>;

export interface Rehearsal {
  /** not_kept: there are no decisions. */
  readonly visits: TriedVisits | 'not_kept';
  readonly admitsNew: AdmitsNew | undefined;
}

/** Whether a figure is the least that it can be. */
export function isAtLeast({ is_partial: isPartial }: TriedVisits, turned: Turned): boolean {
  return isPartial || turned.is_at_least;
}

/** Whether somebody loses by the change; one that could not be tried is taken for one that does. */
export function isRisky({ visits }: Rehearsal): boolean {
  return typeof visits === 'string' || visits.newly_refused.requests > 0 || visits.you.newly_refused_at.length > 0;
}
