import { useTrafficHistory } from '../../api/installation.ts';
import type { TrafficBucket } from '../../api/installation.ts';
import { BarChart } from '../../components/chart.tsx';
import type { Series } from '../../components/chart.tsx';
import { formatClock } from '../../lib/time.ts';
import { chartEnds, chartPixels, TrafficChart } from '../../parts/traffic-chart.tsx';
import { formatMs } from '../../parts/traffic-words.ts';

const latency: readonly Series[] = [{ name: '99 of 100', look: 'pass' }];

/** The last hour, minute by minute. */
export function History({ edgeId }: { readonly edgeId?: string | undefined }) {
  const buckets = useTrafficHistory();
  if (buckets === undefined) return null;
  return (
    <div className="cols charts">
      <TrafficChart edgeId={edgeId} />
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
            ends={chartEnds(buckets)}
            pixels={chartPixels}
          />
        </div>
      </section>
    </div>
  );
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
