import type { Verdict } from '../gateway/engine.ts';

/** Ids beyond this number are counted together: a flood of edges must not fill memory, here or at the scraper. */
export const idLimit = 1_000;
export const otherIds = 'other';

/** The counts of one edge. */
class EdgeCounts {
  readonly edge: string;
  readonly connections = new Map<Verdict, number>();
  /** Counts by `requestKind`. */
  readonly requests = new Map<number, number>();
  closed = 0;
  bytesIn = 0;
  bytesOut = 0;

  constructor(edge: string) {
    this.edge = edge;
  }
}

/**
 * Counts of traffic as plain numbers, which get their labels when the metrics are read. Looking up labels at each
 * connection and request would cost ten times as much.
 */
export class TrafficCounts {
  openTcp = 0;
  openHttps = 0;
  readonly #byId = new Map<string, EdgeCounts>();
  readonly #others = new EdgeCounts(otherIds);

  of(edgeId: string): EdgeCounts {
    return this.#byId.get(edgeId) ?? this.#add(edgeId);
  }

  *edges(): Generator<EdgeCounts> {
    yield* this.#byId.values();
    yield this.#others;
  }

  #add(edgeId: string): EdgeCounts {
    if (this.#byId.size >= idLimit) return this.#others;
    const counts = new EdgeCounts(edgeId);
    this.#byId.set(edgeId, counts);
    return counts;
  }
}

/** Packs status and verdict into one number. */
export function requestKind(status: number, isRefused: boolean): number {
  return status * 2 + (isRefused ? 1 : 0);
}

export function readRequestKind(kind: number): { readonly status: number; readonly verdict: 'allowed' | 'refused' } {
  return { status: Math.floor(kind / 2), verdict: kind % 2 === 1 ? 'refused' : 'allowed' };
}

export function countOne<Kind>(counts: Map<Kind, number>, kind: Kind): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
