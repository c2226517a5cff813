import { durationSteps, quantileOf, stepOf } from './durations.ts';

/** Counts of the requests and connections of an account or an edge. */
export interface Counts {
  requests: number;
  connections: number;
  refused: number;
  warned: number;
  errors: number;
}

export interface CountedEvent {
  readonly kind: 'request' | 'connection';
  readonly verdict: 'allowed' | 'refused' | 'warned';
  readonly isError: boolean;
  /** Duration of a request; 0 for a connection. */
  readonly durationMs: number;
}

const minuteMs = 60_000;
const keptMinutes = 60;
/** Edges of one account that are told apart within a minute; a flood of edges must not fill memory. */
const edgesInMinute = 200;
class Minute {
  readonly number: number;
  readonly all = newCounts();
  readonly byEdge = new Map<string, Counts>();
  readonly durations = new Uint32Array(durationSteps);

  constructor(number: number) {
    this.number = number;
  }

  add(edgeId: string, event: CountedEvent): void {
    count(this.all, event);
    let ofEdge = this.byEdge.get(edgeId);
    if (ofEdge === undefined && this.byEdge.size < edgesInMinute) this.byEdge.set(edgeId, (ofEdge = newCounts()));
    if (ofEdge !== undefined) count(ofEdge, event);
    if (event.kind === 'request') {
      const step = stepOf(event.durationMs);
      this.durations[step] = (this.durations[step] ?? 0) + 1;
    }
  }
}

/** Counts of the last hour, minute by minute. Memory is bounded, and most of it is used only where there is traffic. */
export class TrafficHour {
  /** By the number of the minute modulo the kept ones. */
  readonly #minutes: (Minute | undefined)[] = Array.from({ length: keptMinutes });

  add(nowMs: number, edgeId: string, event: CountedEvent): void {
    this.#minuteAt(nowMs).add(edgeId, event);
  }

  /** A connection that was counted before has found no backend. */
  failed(nowMs: number, edgeId: string): void {
    const minute = this.#minuteAt(nowMs);
    minute.all.errors += 1;
    const ofEdge = minute.byEdge.get(edgeId);
    if (ofEdge !== undefined) ofEdge.errors += 1;
  }

  /** Oldest first, without gaps; the last one has just begun. Of one edge, only the counts are known. */
  minutes(nowMs: number, edgeId?: string) {
    const last = Math.floor(nowMs / minuteMs);
    return Array.from({ length: keptMinutes }, (_, back) => {
      const number = last - keptMinutes + 1 + back;
      const minute = this.#find(number);
      return {
        startMs: number * minuteMs,
        ...((edgeId === undefined ? minute?.all : minute?.byEdge.get(edgeId)) ?? newCounts()),
        p50Ms: edgeId === undefined && minute ? quantileOf(minute.durations, 0.5) : undefined,
        p99Ms: edgeId === undefined && minute ? quantileOf(minute.durations, 0.99) : undefined,
      };
    });
  }

  /** The busiest first. */
  byEdge(nowMs: number): readonly (Counts & { readonly edgeId: string })[] {
    const sums = new Map<string, Counts>();
    const last = Math.floor(nowMs / minuteMs);
    for (let number = last - keptMinutes + 1; number <= last; number++) {
      for (const [edgeId, counts] of this.#find(number)?.byEdge ?? []) {
        const sum = sums.get(edgeId) ?? newCounts();
        sums.set(edgeId, sum);
        addTo(sum, counts);
      }
    }
    const all = [...sums].map(([edgeId, counts]) => ({ edgeId, ...counts }));
    return all.toSorted((a, b) => b.requests + b.connections - a.requests - a.connections);
  }

  #minuteAt(nowMs: number): Minute {
    const number = Math.floor(nowMs / minuteMs);
    const at = number % keptMinutes;
    let minute = this.#minutes[at];
    if (minute?.number !== number) this.#minutes[at] = minute = new Minute(number);
    return minute;
  }

  #find(number: number): Minute | undefined {
    const minute = this.#minutes[number % keptMinutes];
    return minute?.number === number ? minute : undefined;
  }
}

function newCounts(): Counts {
  return { requests: 0, connections: 0, refused: 0, warned: 0, errors: 0 };
}

function count(counts: Counts, { kind, verdict, isError }: CountedEvent): void {
  if (kind === 'request') counts.requests += 1;
  else counts.connections += 1;
  if (verdict === 'refused') counts.refused += 1;
  else if (verdict === 'warned') counts.warned += 1;
  if (isError) counts.errors += 1;
}

function addTo(sum: Counts, counts: Counts): void {
  sum.requests += counts.requests;
  sum.connections += counts.connections;
  sum.refused += counts.refused;
  sum.warned += counts.warned;
  sum.errors += counts.errors;
}
