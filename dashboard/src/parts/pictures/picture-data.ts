import type { DecisionSummary } from '../../../../client/src/index.ts';
import type { PlotSeries } from '../../lib/plot-series.ts';
import { isoSeconds } from '../../lib/picture-times.ts';
import { countOf, formatNumber } from '../../lib/text.ts';
import { formatClock, formatDay } from '../../lib/time.ts';
import type { Range, RequestFilter } from '../past-requests.ts';

export type SummaryPoint = DecisionSummary['points'][number];

export const inWords = { hour: 'in the last hour', day: 'in the last day', week: 'in the last week' } as const;

/** `traffic`: requests, errors and times. `against`: what somebody was refused or warned by. */
export type PictureKind = 'traffic' | 'against';

/** One of the pictures, with its figure. */
export interface Picture {
  readonly name: string;
  readonly figure: string;
  readonly unit?: string;
  readonly usual: string;
  readonly series: readonly PlotSeries[];
  /** Says what it shows, for those who do not see it. */
  readonly sentence: string;
}

type Usual = NonNullable<SummaryPoint['usual']>;

export function picturesOf(summary: DecisionSummary, range: Range, kind: PictureKind = 'traffic'): readonly Picture[] {
  if (kind === 'against') return [against(summary, range)];
  return [visits(summary, range), errors(summary, range), times(summary, range)];
}

function visits({ points, total, durations_of: of }: DecisionSummary, range: Range): Picture {
  const usual = usualOf(points, ({ requests }) => requests);
  const peak = peakOf(points, ({ requests }) => requests);
  return {
    name: of === 'connections' ? 'Connections' : 'Requests',
    figure: formatNumber(total.requests),
    unit: `${formatNumber(total.refused)} refused`,
    usual: usualText(usual, (sum) => formatNumber(Math.round(sum))),
    series: [
      { name: 'Refused', look: 'deny', values: points.map(({ requests }) => requests) },
      { name: 'Let in', look: 'pass', values: points.map(({ requests, refused }) => Math.max(0, requests - refused)) },
      usual,
    ],
    sentence:
      peak === undefined
        ? `Nobody came ${inWords[range]}.`
        : `${countOf(total.requests, ...nounOf(of))} ${inWords[range]}, ${formatNumber(total.refused)} of them refused; most at ${labelOf(peak.at, range)}: ${formatNumber(peak.requests)}.`,
  };
}

function errors({ points, total }: DecisionSummary, range: Range): Picture {
  const all = (each: { readonly errors_4xx: number; readonly errors_5xx: number }): number =>
    each.errors_4xx + each.errors_5xx;
  const usual = usualOf(points, (each) => each.errors_5xx);
  const rate = total.requests === 0 ? 0 : (100 * all(total)) / total.requests;
  return {
    name: 'Errors',
    figure: total.requests === 0 ? '–' : `${rate.toFixed(rate < 10 ? 2 : 1)} %`,
    unit: `${formatNumber(total.errors_5xx)} of 5xx, ${formatNumber(total.errors_4xx)} of 4xx`,
    usual: usualText(usual, (sum) => `${formatNumber(Math.round(sum))} of 5xx`),
    series: [
      { name: '4xx', look: 'warn', values: points.map(all) },
      { name: '5xx', look: 'deny', values: points.map(({ errors_5xx: count }) => count) },
      usual,
    ],
    sentence:
      all(total) === 0
        ? `No answer was an error ${inWords[range]}.`
        : `${formatNumber(total.errors_5xx)} answers of 5xx and ${formatNumber(total.errors_4xx)} of 4xx ${inWords[range]}.`,
  };
}

function times({ points, total, durations_of: of }: DecisionSummary, range: Range): Picture {
  const usual = usualOf(points, ({ p95_ms: p95 }) => p95);
  const { p50_ms: p50, p95_ms: p95 } = total;
  return {
    name: 'Time, 95th percentile',
    figure: p95 === null ? '–' : formatNumber(Math.round(p95)),
    ...(p95 === null ? {} : { unit: 'ms' }),
    usual: usualText(usual, (_, mean) => `${formatNumber(Math.round(mean))} ms`),
    series: [
      { name: '95th percentile', look: 'line', values: points.map((each) => each.p95_ms) },
      { name: 'Median', look: 'second', values: points.map((each) => each.p50_ms) },
      usual,
    ],
    sentence:
      p95 === null
        ? `No time is known ${inWords[range]}.`
        : `Half of the ${nounOf(of)[1]} took ${formatNumber(Math.round(p50 ?? 0))} ms or less, 95 of 100 at most ${formatNumber(Math.round(p95))} ms.`,
  };
}

function against({ points, total, durations_of: of }: DecisionSummary, range: Range): Picture {
  const sum = (each: { readonly refused: number; readonly warned: number }): number => each.refused + each.warned;
  const usual = usualOf(points, ({ requests }) => requests);
  const peak = peakOf(points, sum);
  return {
    name: of === 'connections' ? 'Connections refused' : 'Requests refused',
    figure: formatNumber(total.refused),
    unit: `${formatNumber(total.warned)} let in with a warning`,
    usual: usualText(usual, (all) => `${formatNumber(Math.round(all))} of both`),
    series: [
      { name: 'Refused', look: 'deny', values: points.map(sum) },
      { name: 'Let in, warned', look: 'warn', values: points.map(({ warned }) => warned) },
      usual,
    ],
    sentence:
      peak === undefined
        ? `Nobody was refused or warned of ${inWords[range]}.`
        : `${countOf(total.refused, ...nounOf(of))} refused and ${formatNumber(total.warned)} let in with a warning ${inWords[range]}; most at ${labelOf(peak.at, range)}: ${formatNumber(sum(peak))}.`,
  };
}

function nounOf(of: DecisionSummary['durations_of']): readonly [string, string] {
  return of === 'connections' ? ['connection', 'connections'] : ['request', 'requests'];
}

function usualOf(points: readonly SummaryPoint[], pick: (each: Usual) => number | null): PlotSeries {
  const values = points.map(({ usual }) => (usual === null ? null : pick(usual)));
  return { name: 'Usual', look: 'usual', values };
}

/** The first point that has most; undefined where none has any. */
function peakOf(points: readonly SummaryPoint[], count: (each: SummaryPoint) => number): SummaryPoint | undefined {
  return points.reduce<SummaryPoint | undefined>(
    (found, each) => (count(each) > (found === undefined ? 0 : count(found)) ? each : found),
    undefined,
  );
}

/** Nothing is called usual before there is a day to compare with. */
function usualText({ values }: PlotSeries, words: (sum: number, mean: number) => string): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'What is usual is not known';
  const sum = known.reduce((all, value) => all + value, 0);
  return `Usual: ${words(sum, sum / known.length)}`;
}

/** The beginning of an interval, as people read it. */
export function labelOf(at: string, range: Range): string {
  return range === 'week' ? `${formatDay(at)}, ${formatClock(at)}` : formatClock(at);
}

/** Filters of the page "Past requests" that show the requests of one interval, and no others. */
export function filterOf({ at }: SummaryPoint, step: number, of: RequestFilter): RequestFilter {
  // The page takes both seconds as a part of the time.
  return { ...of, since: at, until: isoSeconds(Date.parse(at) + (step - 1) * 1000) };
}

const causeWords: Readonly<Record<string, string>> = {
  rule: 'rules',
  policy: 'traffic policies',
  rate: 'rate limits',
  certificate: 'want of a certificate',
  password: 'want of a password',
  token: 'want of a token',
  login: 'want of a login',
  quota: 'quotas',
  other: 'other causes',
};

/** Such as "12 by rules, 3 by rate limits", most first; undefined where nobody was refused. */
export function causesText({ total }: DecisionSummary): string | undefined {
  const causes = Object.entries(total.refusals)
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one);
  if (causes.length === 0) return undefined;
  return causes.map(([cause, count]) => `${formatNumber(count)} by ${causeWords[cause] ?? cause}`).join(', ');
}

/** Kinds of changes that decide nothing about visitors. */
const quietKinds = /^(?:account|api_key|bot_user|event_|invitation|user)/;

/** Whether a change may be why the traffic became another one. */
export function isMarked({ kind }: { readonly kind: string }): boolean {
  return !quietKinds.test(kind);
}

/** The reasons why some of what came is not counted, as sentences. */
export function missingWords(summary: DecisionSummary): readonly string[] {
  const { counted_from: from, since, gateways, is_complete: isComplete } = summary;
  const away = gateways.filter(({ state }) => state !== 'answered').length;
  const dropped = gateways.reduce((sum, each) => sum + (each.dropped ?? 0), 0);
  const isLate = from !== undefined && Date.parse(from) > Date.parse(since);
  const words = [
    ...(away === 0
      ? []
      : [`${countOf(away, 'gateway has', 'gateways have')} not told: these are the least that there were.`]),
    ...(dropped === 0
      ? []
      : [`${countOf(dropped, 'decision was', 'decisions were')} not kept since the gateways were started.`]),
    ...(isLate ? [`Counted from ${labelOf(from, 'week')} on: what was before is not kept, or was not reached.`] : []),
  ];
  return isComplete || words.length > 0 ? words : ['Some may be missing: these are the least that there were.'];
}
