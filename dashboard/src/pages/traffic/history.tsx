import { useTrafficHistory } from '../../api/installation.ts';
import type { TrafficBucket } from '../../api/installation.ts';
import { BarChart } from '../../components/chart.tsx';
import type { Series } from '../../components/chart.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { formatClock } from '../../lib/time.ts';
import { formatMs } from './traffic-words.ts';

const verdicts: readonly Series[] = [
  { name: 'Let in', look: 'pass' },
  { name: 'Let in, warned', look: 'warn' },
  { name: 'Refused', look: 'deny' },
];
const latency: readonly Series[] = [{ name: '99 of 100', look: 'pass' }];
const chartPixels = 72;

/** The last hour, minute by minute. */
export function History() {
  const buckets = useTrafficHistory();
  if (buckets === undefined) return null;
  const ends = [
    formatClock(buckets[0]?.start ?? 0),
    formatClock(buckets[Math.floor(buckets.length / 2)]?.start ?? 0),
    'now',
  ];
  return (
    <div className="cols charts">
      <section className="panel">
        <header>
          <h2>
            Requests and connections<small>a minute, all edges</small>
          </h2>
        </header>
        <div className="pad">
          <BarChart
            bars={buckets.map((bucket) => ({ key: bucket.start, values: countsOf(bucket) }))}
            series={verdicts}
            sentence={countsSentence(buckets)}
            ends={ends}
            pixels={chartPixels}
          />
        </div>
      </section>
      <section className="panel p2">
        <header>
          <h2>
            Latency<small>ms, 99 of 100 requests are faster, all edges</small>
          </h2>
        </header>
        <div className="pad">
          <BarChart
            bars={buckets.map(({ start, p99_ms: p99 }) => ({ key: start, values: [p99 ?? 0] }))}
            series={latency}
            sentence={latencySentence(buckets)}
            ends={ends}
            pixels={chartPixels}
          />
        </div>
      </section>
    </div>
  );
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

function latencySentence(buckets: readonly TrafficBucket[]): string {
  const slowest = buckets.reduce<TrafficBucket | undefined>(
    (found, each) => ((each.p99_ms ?? -1) > (found?.p99_ms ?? -1) ? each : found),
    undefined,
  );
  const newest = buckets.findLast(({ p50_ms: p50 }) => p50 !== null);
  if (slowest?.p99_ms === undefined || slowest.p99_ms === null || newest === undefined) {
    return 'No request was answered in the last hour.';
  }
  return `Half of the newest took ${formatMs(newest.p50_ms ?? 0)} ms or less; slowest at ${formatClock(slowest.start)}, with ${formatMs(slowest.p99_ms)} ms.`;
}
