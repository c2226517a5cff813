import type { IpRestriction } from '../../../../client/src/index.ts';
import type { WarningSummary, WarningWindow } from '../../api/warnings.ts';
import { ButtonGroup } from '../../components/button.tsx';
import { BarChart } from '../../components/chart.tsx';
import { Panel } from '../../components/page.tsx';
import { formatNumber } from '../../lib/text.ts';
import { formatClock, formatDay } from '../../lib/time.ts';
import { callsHead, callsOf, windowWords } from './restriction-words.ts';

const series = [{ name: 'Warned', look: 'warn' }] as const;
const ranges = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
] as const;

type Buckets = readonly WarningSummary['buckets'][number][];

export function WarningsChart({
  summary,
  type,
  since,
  onWindow,
}: {
  readonly summary: WarningSummary;
  readonly type: IpRestriction['type'];
  /** When the restriction was made, before which it has warned of nobody. */
  readonly since: string;
  readonly onWindow: (window: WarningWindow) => void;
}) {
  const { window } = summary;
  const buckets = window === 'week' ? joined(summary.buckets, hoursInBarOfWeek) : summary.buckets;
  const label = window === 'week' ? formatDay : formatClock;
  return (
    <Panel
      title="Warnings"
      note={`${callsHead(type).toLowerCase()} in ${stepWords(buckets)}`}
      action={<ButtonGroup label="Range" value={window} options={ranges} onChange={onWindow} />}
    >
      <BarChart
        bars={buckets.map(({ start, count }) => ({ key: start, values: [count] }))}
        series={series}
        sentence={sentenceOf({ ...summary, buckets: [...buckets] }, type, since)}
        ends={[...endsOf(buckets).map(({ start }) => label(start)), 'now']}
      />
    </Panel>
  );
}

/** A week of hours would be bars as thin as hairs. */
const hoursInBarOfWeek = 3;

/** Joins several neighbours into one bar, counted from the newest. */
function joined(buckets: Buckets, count: number): Buckets {
  const first = buckets.length % count;
  const starts = [0, ...buckets.map((_, index) => index).filter((index) => index > 0 && (index - first) % count === 0)];
  return starts.map((from, index) => {
    const some = buckets.slice(from, starts[index + 1] ?? buckets.length);
    return { start: some[0]?.start ?? '', count: some.reduce((sum, each) => sum + each.count, 0) };
  });
}

/** The first bucket and those at a third and two thirds. */
function endsOf(buckets: Buckets): Buckets {
  return [0, 1 / 3, 2 / 3].flatMap((share) => buckets[Math.floor(buckets.length * share)] ?? []);
}

/** The first may be cut. */
function stepWords(buckets: Buckets): string {
  const [, first, second] = buckets;
  if (first === undefined || second === undefined) return 'all';
  const minutes = Math.round((Date.parse(second.start) - Date.parse(first.start)) / 60_000);
  if (minutes < 60) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return minutes === 60 ? 'an hour' : `${Math.round(minutes / 60)} hours`;
}

function sentenceOf(
  { window, buckets, total_warned: total }: WarningSummary,
  type: IpRestriction['type'],
  since: string,
): string {
  if (total === 0) return `No warnings in the ${windowWords[window]}.`;
  const most = buckets.reduce((found, each) => (each.count > found.count ? each : found), { start: '', count: 0 });
  const start = Date.parse(most.start) < Date.parse(since) ? since : most.start;
  const when =
    window === 'week' ? `on ${formatDay(start)} from ${formatClock(start)} on` : `from ${formatClock(start)} on`;
  return `${callsOf(total, type)} would have been refused in the ${windowWords[window]}; most, ${formatNumber(most.count)}, ${when}.`;
}
