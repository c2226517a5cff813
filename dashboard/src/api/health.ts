import { ApiError } from '../../../client/src/index.ts';
import type { TrafficHealth } from '../../../client/src/index.ts';
import { useOne } from './queries.ts';

export type Health = TrafficHealth['health'][number];

/** Addresses of a static backend as the gateways see them. */
export type WatchedBackend = TrafficHealth['backends'][number];

/** Whether what lies behind an edge, route or backend can answer. `unknown`: nobody checks it, or nobody has yet. */
export type Condition = 'up' | 'in_part' | 'down' | 'no_agent' | 'unknown';

/**
 * `nobody_yet`: none since it was made. `backend_down`, `backend_in_part` and `no_agent`: traffic does not say so, but what is
 * behind cannot answer, or only in part. `all_refused`: a rule refused all that came. `checks_answer`: nobody has come, and checks say that it answers. `unknown`: nobody counts.
 */
export type HealthState =
  | Health['state']
  | 'nobody_yet'
  | 'backend_down'
  | 'backend_in_part'
  | 'no_agent'
  | 'all_refused'
  | 'checks_answer'
  | 'unknown';

export interface HealthBook {
  readonly find: (id: string) => Health | undefined;
  /** Undefined for a backend whose addresses nobody watches. */
  readonly watched: (id: string) => WatchedBackend | undefined;
  /** The state of an edge, route or backend, whose backends are in this condition. */
  readonly stateOf: (thing: Thing, condition?: Condition) => HealthState;
  /** Counts are whole since then. */
  readonly sinceMs: number;
}

interface Thing {
  readonly id: string;
  readonly created_at: string;
}

const everyMs = 10_000;

/**
 * How everything does by the traffic of the last hour; undefined until it is known. An old answer only while the server is lost,
 * which the whole page says.
 */
export function useHealth(enabled = true): HealthBook | undefined {
  const { data, error } = useOne('TrafficHealth', {}, { refreshMs: everyMs, enabled });
  if (error instanceof ApiError) return nothingKnown;
  if (data === undefined && error !== undefined) return nothingKnown;
  return data === undefined ? undefined : bookOf(data.document);
}

const nothingKnown: HealthBook = {
  find: () => undefined,
  watched: () => undefined,
  stateOf: () => 'unknown',
  sinceMs: 0,
};

const books = new WeakMap<TrafficHealth, HealthBook>();

/** Books by their documents: columns that are made of one stay the same. */
function bookOf(document: TrafficHealth): HealthBook {
  const known = books.get(document);
  if (known !== undefined) return known;
  const byId = new Map(document.health.map((each) => [each.id, each]));
  const backends = new Map(document.backends.map((each) => [each.id, each]));
  const sinceMs = Date.parse(document.since);
  const byTraffic = ({ id, created_at: createdAt }: Thing): HealthState => {
    const state = byId.get(id)?.state ?? 'no_requests';
    if (state === 'no_requests' && (byId.get(id)?.turned_away ?? 0) > 0) return 'all_refused';
    if (state !== 'no_requests' || byId.has(id)) return state;
    if (document.gateways === 0 || !document.is_complete) return 'unknown';
    return Date.parse(createdAt) > sinceMs ? 'nobody_yet' : 'no_requests';
  };
  const book: HealthBook = {
    find: (id) => byId.get(id),
    watched: (id) => backends.get(id),
    stateOf: (thing, condition = 'unknown') => withCondition(byTraffic(thing), condition),
    sinceMs,
  };
  books.set(document, book);
  return book;
}

/** Real requests decide, but what cannot answer now is not said to answer because it did. */
function withCondition(state: HealthState, condition: Condition): HealthState {
  if (state === 'does_not_answer') return state;
  if (condition === 'down') return 'backend_down';
  if (condition === 'no_agent') return 'no_agent';
  const isCalm = state === 'answers' || state === 'no_requests' || state === 'nobody_yet' || state === 'unknown';
  return condition === 'in_part' && isCalm ? 'backend_in_part' : state;
}
