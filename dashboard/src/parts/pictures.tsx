import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';

import type { Change, DecisionSummary } from '../../../client/src/index.ts';
import { rangeOf, useDecisionSummary } from '../api/decision-summary.ts';
import type { Counted, PictureRange, SummaryPoint } from '../api/decision-summary.ts';
import { useList } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { ButtonGroup } from '../components/button.tsx';
import { Plot } from '../components/plot.tsx';
import type { PlotSeries } from '../components/plot.tsx';
import { ErrorState, Skeleton } from '../components/states.tsx';
import { countOf, formatNumber } from '../lib/text.ts';
import { formatClock, formatDay } from '../lib/time.ts';
import { useUrlState } from '../lib/url-state.ts';
import { pastRequests } from './past-requests.ts';
import type { RequestFilter } from './past-requests.ts';

const ranges: readonly (readonly [PictureRange, string])[] = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
];
const inWords = { hour: 'in the last hour', day: 'in the last day', week: 'in the last week' } as const;

/**
 * Requests, errors, refusals by cause and times over an hour, a day or a week, with what is usual and the changes in between.
 * `links` are the filters by which "Past requests" shows the same; left out where it cannot.
 */
export function Pictures({
  of,
  links,
  title = 'Traffic',
  otherwise,
}: {
  readonly of: Counted;
  readonly links?: RequestFilter | undefined;
  readonly title?: string;
  /** Shown where no decisions are kept. */
  readonly otherwise?: ReactNode;
}) {
  const [params, setParams] = useUrlState();
  const range = ranges.find(([each]) => each === params.get('pictures'))?.[0] ?? 'hour';
  const { data: summary, error, retry } = useDecisionSummary(of, range);
  if (summary !== undefined && summary.counted_from === undefined)
    return <NotKept summary={summary}>{otherwise}</NotKept>;
  return (
    <section className="panel pictures">
      <header>
        <h2>
          {title}
          <small>{inWords[summary === undefined ? range : rangeOf(summary)]}</small>
        </h2>
        <ButtonGroup
          label="Range of the pictures"
          value={range}
          options={ranges}
          onChange={(value) => setParams({ pictures: value === 'hour' ? undefined : value })}
        />
      </header>
      {error !== undefined && summary === undefined ? (
        <ErrorState title="The pictures could not be read" error={error} onRetry={retry} />
      ) : summary === undefined ? (
        <div className="pad">
          <Skeleton />
        </div>
      ) : (
        <Drawn summary={summary} range={rangeOf(summary)} links={links} />
      )}
    </section>
  );
}

function NotKept({ summary, children }: { readonly summary: DecisionSummary; readonly children: ReactNode }) {
  const isOff = summary.gateways.every(({ state }) => state === 'keeps_none');
  return (
    <>
      {children}
      <p className="muted fine">
        {isOff ? (
          <>
            {children === undefined || children === null
              ? 'There is no picture: no'
              : 'Only the last hour is remembered: no'}{' '}
            gateway keeps decisions. <code>GATEHOUSE_DECISIONS</code> names a folder to keep them in, and then a day and
            a week are shown, with what is usual.
          </>
        ) : (
          'No decision about a visitor is kept yet.'
        )}
      </p>
    </>
  );
}

interface DrawnProps {
  readonly summary: DecisionSummary;
  readonly range: PictureRange;
  readonly links: RequestFilter | undefined;
}

function Drawn({ summary, range, links }: DrawnProps) {
  const [, navigate] = useLocation();
  const { points, step, is_complete: isComplete } = summary;
  const changes = useChanges(summary);
  const marks = useMemo(() => changes.map(({ created_at: at }) => Date.parse(at) / 1000), [changes]);
  const span = useMemo(
    () => ({ from: Date.parse(summary.since) / 1000, to: Date.parse(summary.until) / 1000, step: summary.step }),
    [summary],
  );
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const pictures = useMemo(() => picturesOf(summary, range), [summary, range]);
  const linkOf = (point: SummaryPoint, verdict?: string): string | undefined =>
    links === undefined
      ? undefined
      : pastRequests({
          ...links,
          ...(verdict === undefined ? {} : { verdict }),
          since: point.at,
          until: endOf(point, step),
        });
  const open = (verdict?: string) => (at: number) => {
    const to = points[at] === undefined ? undefined : linkOf(points[at], verdict);
    if (to !== undefined) navigate(to);
  };
  return (
    <>
      <div className="minis">
        {pictures.map(({ name, figure, unit, usual, series, sentence, verdict }) => (
          <div key={name}>
            <h3>{name}</h3>
            <span className="n">
              {figure}
              {unit === undefined ? null : <small> {unit}</small>}
            </span>
            <p>{usual}</p>
            <Plot
              span={span}
              times={times}
              series={series}
              sentence={sentence}
              marks={marks}
              onPoint={links === undefined ? undefined : open(verdict)}
            />
          </div>
        ))}
      </div>
      <div className="pad stack tight">
        <Causes summary={summary} range={range} links={links} />
        <Changes changes={changes} summary={summary} />
        {isComplete ? null : (
          <p className="fine muted">
            These are the least that there were: some gateway did not answer, keeps no decisions, or could not keep all
            of them.
          </p>
        )}
        {Date.parse(summary.counted_from ?? '') > Date.parse(summary.since) ? (
          <p className="fine muted">Decisions are known from {labelOf(summary.counted_from ?? '', 'week')} on.</p>
        ) : null}
        <AsTable summary={summary} range={range} linkOf={linkOf} />
      </div>
    </>
  );
}

/** Changes that are marked. */
const mostMarks = 50;

/** Changes of the configuration within the range, which only admins may read. */
function useChanges({ since, until }: DecisionSummary): readonly Change[] {
  const { role } = useSession();
  const { data } = useList('ChangesList', { query: { since, until }, wanted: mostMarks, enabled: role === 'admin' });
  return useMemo(() => {
    // Keys and people decide nothing about visitors.
    const wanted = (data ?? []).filter(
      ({ kind }) => !/^(?:api_key|bot_user|user|invitation|event_|account)/.test(kind),
    );
    return wanted.slice(0, mostMarks);
  }, [data]);
}

function Changes({
  changes,
  summary: { since },
}: {
  readonly changes: readonly Change[];
  readonly summary: DecisionSummary;
}) {
  if (changes.length === 0) return null;
  const times = changes.slice(0, 3).map(({ created_at: at }) => formatClock(at));
  return (
    <p className="fine">
      <Link to={`/changes?since=${since.slice(0, 10)}`}>
        {countOf(changes.length, 'change', 'changes')} of the configuration
      </Link>{' '}
      <span className="muted">
        {changes.length === 1 ? 'is' : 'are'} marked, the newest at {times.join(', ')}.
      </span>
    </p>
  );
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

function Causes({ summary: { total }, range, links }: DrawnProps) {
  const causes = Object.entries(total.refusals)
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one);
  if (causes.length === 0) return null;
  const words = causes.map(([cause, count]) => `${formatNumber(count)} by ${causeWords[cause] ?? cause}`).join(', ');
  return (
    <p className="fine">
      <b className="strong">Refused:</b> {words}.{' '}
      {links === undefined ? null : <Link to={pastRequests({ ...links, verdict: 'refused', range })}>See them</Link>}
    </p>
  );
}

interface Picture {
  readonly name: string;
  readonly figure: string;
  readonly unit?: string;
  readonly usual: string;
  readonly series: readonly PlotSeries[];
  readonly sentence: string;
  /** The verdict of the requests that a point leads to. */
  readonly verdict?: string;
}

function picturesOf({ points, total, durations_of: of }: DecisionSummary, range: PictureRange): readonly Picture[] {
  const noun = of === 'connections' ? 'connections' : 'requests';
  const errors = (each: { readonly errors_4xx: number; readonly errors_5xx: number }): number =>
    each.errors_4xx + each.errors_5xx;
  const usual = (pick: (each: NonNullable<SummaryPoint['usual']>) => number | null): PlotSeries => ({
    name: 'Usual',
    look: 'usual',
    values: points.map((point) => (point.usual === null ? null : pick(point.usual))),
  });
  const [requestsUsual, errorsUsual, timeUsual] = [
    usual(({ requests }) => requests),
    usual((each) => each.errors_5xx),
    usual(({ p95_ms: p95 }) => p95),
  ];
  const peak = points.reduce<SummaryPoint | undefined>(
    (found, each) => (each.requests > (found?.requests ?? 0) ? each : found),
    undefined,
  );
  const rate = total.requests === 0 ? 0 : (100 * errors(total)) / total.requests;
  return [
    {
      name: noun === 'requests' ? 'Requests' : 'Connections',
      figure: formatNumber(total.requests),
      unit: `${formatNumber(total.refused)} refused`,
      usual: usualText(requestsUsual, (sum) => formatNumber(Math.round(sum))),
      series: [
        { name: 'Refused', look: 'deny', values: points.map(({ requests }) => requests) },
        {
          name: 'Let in',
          look: 'pass',
          values: points.map(({ requests, refused }) => Math.max(0, requests - refused)),
        },
        requestsUsual,
      ],
      sentence:
        peak === undefined
          ? `Nobody came ${inWords[range]}.`
          : `${formatNumber(total.requests)} ${noun} ${inWords[range]}, ${formatNumber(total.refused)} of them refused; most at ${labelOf(peak.at, range)}: ${formatNumber(peak.requests)}.`,
    },
    {
      name: 'Errors',
      figure: total.requests === 0 ? '–' : `${rate.toFixed(rate < 10 ? 2 : 1)} %`,
      unit: `${formatNumber(total.errors_5xx)} of 5xx, ${formatNumber(total.errors_4xx)} of 4xx`,
      usual: usualText(errorsUsual, (sum) => `${formatNumber(Math.round(sum))} of 5xx`),
      series: [
        { name: '4xx', look: 'warn', values: points.map(errors) },
        { name: '5xx', look: 'deny', values: points.map(({ errors_5xx: count }) => count) },
        errorsUsual,
      ],
      sentence:
        errors(total) === 0
          ? `No answer was an error ${inWords[range]}.`
          : `${formatNumber(total.errors_5xx)} answers of 5xx and ${formatNumber(total.errors_4xx)} of 4xx ${inWords[range]}.`,
    },
    {
      name: 'Time, 95th percentile',
      figure: total.p95_ms === null ? '–' : formatNumber(Math.round(total.p95_ms)),
      ...(total.p95_ms === null ? {} : { unit: 'ms' }),
      usual: usualText(timeUsual, (_, mean) => `${formatNumber(Math.round(mean))} ms`),
      series: [
        { name: '95th percentile', look: 'line', values: points.map(({ p95_ms: p95 }) => p95) },
        { name: 'Median', look: 'second', values: points.map(({ p50_ms: p50 }) => p50) },
        timeUsual,
      ],
      sentence:
        total.p95_ms === null
          ? `No time is known ${inWords[range]}.`
          : `Half of the ${noun} took ${formatNumber(Math.round(total.p50_ms ?? 0))} ms or less, 95 of 100 at most ${formatNumber(Math.round(total.p95_ms))} ms.`,
    },
  ];
}

/** Nothing is called usual before there is a day to compare with. */
function usualText({ values }: PlotSeries, words: (sum: number, mean: number) => string): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'What is usual is not known yet';
  const sum = known.reduce((all, value) => all + value, 0);
  return `Usual: ${words(sum, sum / known.length)}`;
}

function endOf({ at }: SummaryPoint, step: number): string {
  return `${new Date(Date.parse(at) + step * 1000).toISOString().slice(0, 19)}Z`;
}

function labelOf(at: string, range: PictureRange): string {
  return range === 'week' ? `${formatDay(at)}, ${formatClock(at)}` : formatClock(at);
}

/** The same as numbers, for those who do not see pictures; intervals without anybody are left out. */
function AsTable({
  summary: { points },
  range,
  linkOf,
}: {
  readonly summary: DecisionSummary;
  readonly range: PictureRange;
  readonly linkOf: (point: SummaryPoint) => string | undefined;
}) {
  const busy = points.filter(({ requests }) => requests > 0);
  const ms = (value: number | null): string => (value === null ? '' : formatNumber(Math.round(value)));
  return (
    <details className="as-table">
      <summary>As a table</summary>
      {busy.length === 0 ? (
        <p className="muted">Nobody came {inWords[range]}.</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- whoever has no mouse scrolls it with the arrow keys
        <div className="scrolls" role="region" aria-label="Traffic as a table" tabIndex={0}>
          <table className="tbl dense">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col" className="num">
                  Requests
                </th>
                <th scope="col" className="num">
                  Usual
                </th>
                <th scope="col" className="num">
                  Refused
                </th>
                <th scope="col" className="num">
                  4xx
                </th>
                <th scope="col" className="num">
                  5xx
                </th>
                <th scope="col" className="num">
                  Median, ms
                </th>
                <th scope="col" className="num">
                  95th, ms
                </th>
              </tr>
            </thead>
            <tbody>
              {busy.map((point) => {
                const to = linkOf(point);
                const label = labelOf(point.at, range);
                return (
                  <tr key={point.at}>
                    <th scope="row">{to === undefined ? label : <Link to={to}>{label}</Link>}</th>
                    <td className="num">{formatNumber(point.requests)}</td>
                    <td className="num">
                      {point.usual === null ? '' : formatNumber(Math.round(point.usual.requests))}
                    </td>
                    <td className="num">{formatNumber(point.refused)}</td>
                    <td className="num">{formatNumber(point.errors_4xx)}</td>
                    <td className="num">{formatNumber(point.errors_5xx)}</td>
                    <td className="num">{ms(point.p50_ms)}</td>
                    <td className="num">{ms(point.p95_ms)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
