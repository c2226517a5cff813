import type { IpRestriction } from '../../../../client/src/index.ts';
import type { CallError } from '../../api/client.ts';
import { useWarnings } from '../../api/warnings.ts';
import type { WarningSource, WarningSummary, WarningWindow } from '../../api/warnings.ts';

const dayMs = 86_400_000;

/** An address that was warned of, with where its decision stands. */
export interface Source extends WarningSource {
  readonly state: 'undecided' | 'refused on purpose' | 'let in since';
}

/** How a restriction that warns stands: whom it would have refused, and who of them is undecided. */
export interface Standing {
  readonly windows: Readonly<Record<WarningWindow, WarningSummary>>;
  /** Addresses of the last seven days, undecided ones first. */
  readonly sources: readonly Source[];
  readonly undecided: readonly Source[];
  readonly refusedOnPurpose: readonly Source[];
  /** More addresses came than the server lists. */
  readonly isCut: boolean;
  /** Since when it was watched, RFC 3339. */
  readonly since: string;
  /** Less than a day was watched: nightly jobs have not been seen. */
  readonly isTooEarly: boolean;
  /** From when on a day was watched, RFC 3339. */
  readonly askAgainAt: string;
}

export function useStanding(restriction: IpRestriction): {
  readonly standing: Standing | undefined;
  readonly error: CallError | undefined;
  readonly retry: () => void;
} {
  const isWatched = !restriction.enforced;
  const hour = useWarnings(restriction.id, 'hour', isWatched);
  const day = useWarnings(restriction.id, 'day', isWatched);
  const week = useWarnings(restriction.id, 'week', isWatched);
  const failed = [hour, day, week].find(({ error }) => error !== undefined) ?? week;
  const isRead = hour.data !== undefined && day.data !== undefined && week.data !== undefined;
  return {
    standing: isRead ? standingOf({ hour: hour.data, day: day.data, week: week.data }) : undefined,
    error: failed.error,
    retry: failed.retry,
  };
}

function standingOf(windows: Standing['windows']): Standing {
  const { week } = windows;
  const sources = sourcesOf(week);
  const since = week.collecting_since ?? new Date().toISOString();
  const end = new Date(since).getTime() + dayMs;
  return {
    windows,
    sources,
    undecided: sources.filter(({ state }) => state === 'undecided'),
    refusedOnPurpose: sources.filter(({ state }) => state === 'refused on purpose'),
    isCut: week.sources_truncated,
    since,
    isTooEarly: end > Date.now(),
    askAgainAt: new Date(end).toISOString(),
  };
}

const order = { undecided: 0, 'refused on purpose': 1, 'let in since': 2 } as const;

/** Addresses of a summary: undecided ones first, then those that came most often. */
export function sourcesOf({ sources }: WarningSummary): readonly Source[] {
  return sources
    .map((source): Source => ({ ...source, state: stateOf(source) }))
    .toSorted((one, other) => order[one.state] - order[other.state] || other.count - one.count);
}

function stateOf({ would_be_refused: isRefused, decision }: WarningSource): Source['state'] {
  if (!isRefused) return 'let in since';
  return decision === null ? 'undecided' : 'refused on purpose';
}
