import { useTrafficHistory } from '../api/installation.ts';
import type { TrafficBucket } from '../api/installation.ts';
import { BarChart } from '../components/chart.tsx';
import type { Series } from '../components/chart.tsx';
import { countOf, formatNumber } from '../lib/text.ts';
import { formatClock } from '../lib/time.ts';

const verdicts: readonly Series[] = [
  { name: 'Let in', look: 'pass' },
  { name: 'Let in, warned', look: 'warn' },
  { name: 'Refused', look: 'deny' },
];
export const chartPixels = 72;

/** Requests and connections of the last hour, minute by minute, of all edges or of one. */
export function TrafficChart({
  edgeId,
  needsTraffic = false,
}: {
  readonly edgeId?: string | undefined;
  /** Shows nothing where nothing came. */
  readonly needsTraffic?: boolean;
}) {
  const buckets = useTrafficHistory(edgeId);
  if (buckets === undefined) return null;
  if (needsTraffic && buckets.every((bucket) => bucket.requests + bucket.connections === 0)) return null;
  return (
    <section className="panel">
      <header>
        <h2>
          Requests and connections<small>a minute, {edgeId === undefined ? 'all edges' : 'this edge'}</small>
        </h2>
      </header>
      <div className="pad">
        <BarChart
          bars={buckets.map((bucket) => ({ key: bucket.start, values: countsOf(bucket) }))}
          series={verdicts}
          sentence={countsSentence(buckets)}
          ends={chartEnds(buckets)}
          pixels={chartPixels}
        />
      </div>
    </section>
  );
}

export function chartEnds(buckets: readonly TrafficBucket[]): readonly string[] {
  return [formatClock(buckets[0]?.start ?? 0), formatClock(buckets[Math.floor(buckets.length / 2)]?.start ?? 0), 'now'];
}

function countsOf({ requests, connections, refused, warned }: TrafficBucket): readonly number[] {
  return [Math.max(0, requests + connections - refused - warned), warned, refused];
}

function countsSentence(buckets: readonly TrafficBucket[]): string {
  const [passed = 0, warned = 0, refused = 0] = [0, 1, 2].map((index) =>
    buckets.reduce((sum, bucket) => sum + (countsOf(bucket)[index] ?? 0), 0),
  );
  const total = passed + warned + refused;
  if (total === 0) return 'Nothing came in the last hour.';
  const most = buckets.reduce((found, each) => (each.refused > found.refused ? each : found));
  const peak =
    most.refused === 0 ? '' : ` Most were refused at ${formatClock(most.start)}: ${formatNumber(most.refused)}.`;
  return `${countOf(total, 'came', 'came')} in the last hour; ${formatNumber(refused)} refused, ${formatNumber(warned)} warned.${peak}`;
}
