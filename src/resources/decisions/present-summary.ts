import { quantile } from '../../decisions/durations.ts';
import type { SummaryAnswer, SummaryPoint } from '../../decisions/messages.ts';
import { decisionCauses } from '../../decisions/causes.ts';
import { toTimestamp } from '../../lib/ids.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Earlier days that say what is usual. */
export const usualDays = 7;

export interface Intervals {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Puts the counts of several gateways together. */
export function presentSummary(answers: readonly SummaryAnswer[], { fromMs, toMs, stepMs }: Intervals) {
  const points = joinPoints(answers.map((each) => each.points));
  const countedFromMs = Math.max(
    fromMs,
    ...answers.map(({ keptFromMs, cutAtMs = 0 }) => Math.max(keptFromMs, cutAtMs)),
  );
  // Before that, an interval without decisions would look like one without visitors.
  const firstMs = fromMs + Math.floor((countedFromMs - fromMs) / stepMs) * stepMs;
  const total = join([...points].filter(([atMs]) => atMs >= firstMs).map(([, point]) => point));
  const form = formOf(total);
  const usual = new Usual(answers);
  const shown: object[] = [];
  for (let atMs = firstMs; atMs < toMs && answers.length > 0; atMs += stepMs)
    shown.push({
      at: toTimestamp(atMs),
      ...present(points.get(atMs) ?? nothing, form),
      usual: usual.of(atMs, stepMs, form),
    });
  return {
    since: toTimestamp(fromMs),
    until: toTimestamp(toMs),
    step: stepMs / 1000,
    counted_from: answers.length === 0 ? undefined : toTimestamp(countedFromMs),
    durations_of: form === 'tcp' ? 'connections' : 'requests',
    points: shown,
    total: present(total, form),
  };
}

type Counted = Pick<SummaryPoint, 'counts' | 'durations'>;
type Form = 'https' | 'tcp';

const nothing: Counted = { counts: {}, durations: { https: {}, tcp: {} } };

/** Durations are those of requests, and of connections where there are no requests: the two say nothing together. */
function formOf({ durations }: Counted): Form {
  return Object.keys(durations.https).length === 0 && Object.keys(durations.tcp).length > 0 ? 'tcp' : 'https';
}

function joinPoints(all: readonly (readonly SummaryPoint[])[]): ReadonlyMap<number, Counted> {
  return new Map([...Map.groupBy(all.flat(), ({ atMs }) => atMs)].map(([atMs, some]) => [atMs, join(some)]));
}

function join(all: readonly Counted[]): Counted {
  const [first, ...others] = all;
  if (first === undefined || others.length === 0) return first ?? nothing;
  return {
    counts: addUp(all.map(({ counts }) => counts)),
    durations: {
      https: addUp(all.map(({ durations }) => durations.https)),
      tcp: addUp(all.map(({ durations }) => durations.tcp)),
    },
  };
}

function addUp(all: readonly Readonly<Record<string | number, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const each of all) for (const [name, value] of Object.entries(each)) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

function present({ counts, durations }: Counted, form: Form) {
  const of = (name: string): number => counts[name] ?? 0;
  return {
    requests: of('requests'),
    errors_4xx: of('errors4xx'),
    errors_5xx: of('errors5xx'),
    warned: of('warned'),
    refused: of('refused'),
    refusals: Object.fromEntries(decisionCauses.map((cause) => [cause, of(cause)])),
    bytes_in: of('bytesIn'),
    bytes_out: of('bytesOut'),
    p50_ms: milliseconds(quantile(durations[form], 0.5)),
    p95_ms: milliseconds(quantile(durations[form], 0.95)),
  };
}

/** With three digits that count: no more are known. */
function milliseconds(microseconds: number | undefined): number | null {
  return microseconds === undefined ? null : Number((microseconds / 1000).toPrecision(3));
}

/** Counts of the same hour of earlier days. */
class Usual {
  readonly #hours: ReadonlyMap<number, Counted>;
  /** Whole hours from here on are known at every gateway that has counts by the hour. */
  readonly #fromMs: number;

  constructor(answers: readonly SummaryAnswer[]) {
    this.#hours = joinPoints(answers.map(({ hours }) => hours));
    const froms = answers.map(({ beganMs, keptFromMs, hoursCutAtMs = 0 }) => ({
      beganMs,
      // A gateway that came later had no visitors before.
      knownMs: Math.max(keptFromMs === beganMs ? 0 : keptFromMs, hoursCutAtMs),
    }));
    const firstMs = Math.min(...froms.map(({ beganMs }) => beganMs));
    this.#fromMs = Math.max(firstMs, ...froms.map(({ knownMs }) => knownMs));
  }

  /** The mean of earlier days for an interval; null where none of them is known. */
  of(atMs: number, stepMs: number, form: Form) {
    const firstMs = atMs - (atMs % hourMs);
    const hours = Math.max(1, Math.ceil((atMs - firstMs + stepMs) / hourMs));
    const days: Counted[] = [];
    for (let day = 1; day <= usualDays; day++) {
      const beginMs = firstMs - day * dayMs;
      // The interval itself has not been before.
      if (beginMs < this.#fromMs || beginMs + hours * hourMs > atMs + hourMs) continue;
      for (let hour = 0; hour < hours; hour++) days.push(this.#hours.get(beginMs + hour * hourMs) ?? nothing);
    }
    if (days.length === 0) return null;
    const share = stepMs / hourMs / days.length;
    const { counts, durations } = join(days);
    const mean = Object.fromEntries(
      Object.entries(counts).map(([name, value]) => [name, Number((value * share).toPrecision(4))]),
    );
    const { warned: _warned, refusals: _refusals, ...usual } = present({ counts: mean, durations }, form);
    return usual;
  }
}
