import type { TrafficHealth } from '../../../client/src/index.ts';
import { useOne } from './queries.ts';

export type Health = TrafficHealth['health'][number];

/** `nobody_yet`: none since it was made. `no_agent`: nobody has come, and no agent is there. `unknown`: nobody counts. */
export type HealthState = Health['state'] | 'nobody_yet' | 'no_agent' | 'unknown';

export interface HealthBook {
  readonly find: (id: string) => Health | undefined;
  /** The state of an edge, route or backend; `isOffline` where nothing behind it could answer. */
  readonly stateOf: (thing: Thing, isOffline?: boolean) => HealthState;
  /** Counts are whole since then. */
  readonly sinceMs: number;
}

interface Thing {
  readonly id: string;
  readonly created_at: string;
}

const everyMs = 10_000;

/** How everything does by the traffic of the last hour; undefined until it is known. Never an old answer. */
export function useHealth(enabled = true): HealthBook | undefined {
  const { data, error } = useOne('TrafficHealth', {}, { refreshMs: everyMs, enabled });
  if (error !== undefined) return nothingKnown;
  return data === undefined ? undefined : bookOf(data.document);
}

const nothingKnown: HealthBook = { find: () => undefined, stateOf: () => 'unknown', sinceMs: 0 };

const books = new WeakMap<TrafficHealth, HealthBook>();

/** The same book for the same document, so that columns made of it stay the same. */
function bookOf(document: TrafficHealth): HealthBook {
  const known = books.get(document);
  if (known !== undefined) return known;
  const byId = new Map(document.health.map((each) => [each.id, each]));
  const sinceMs = Date.parse(document.since);
  const book: HealthBook = {
    find: (id) => byId.get(id),
    stateOf: ({ id, created_at: createdAt }, isOffline = false) => {
      const state = byId.get(id)?.state ?? 'no_requests';
      if (state !== 'no_requests') return state;
      if (isOffline) return 'no_agent';
      if (byId.has(id)) return state;
      if (document.gateways === 0 || !document.is_complete) return 'unknown';
      return Date.parse(createdAt) > sinceMs ? 'nobody_yet' : 'no_requests';
    },
    sinceMs,
  };
  books.set(document, book);
  return book;
}
