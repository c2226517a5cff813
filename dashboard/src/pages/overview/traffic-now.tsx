import { useTrafficHistory } from '../../api/installation.ts';
import type { TrafficBucket } from '../../api/installation.ts';
import { ButtonLink } from '../../components/button.tsx';
import { BarChart, passAndDeny } from '../../components/chart.tsx';
import { Glyph } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';
import { formatClock } from '../../lib/time.ts';

/** From this share on, errors are not quiet; the server calls an edge by it too. */
const errorShare = 0.01;

/** The last hour of all edges, as this process has seen it. */
export function TrafficNow() {
  const buckets = useTrafficHistory();
  if (buckets === undefined) return null;
  const sum = (pick: (bucket: TrafficBucket) => number): number =>
    buckets.reduce((total, bucket) => total + pick(bucket), 0);
  const passed = (bucket: TrafficBucket): number => Math.max(0, bucket.requests + bucket.connections - bucket.refused);
  const requests = sum(({ requests: count }) => count);
  const errors = sum(({ errors: count }) => count);
  const tried = sum(passed);
  const newest = buckets.findLast(({ p99_ms: p99 }) => p99 !== null);
  return (
    <section className="panel">
      <header>
        <h2>
          Traffic<small>all edges, the last hour</small>
        </h2>
        <ButtonLink small to="/traffic">
          Open live traffic
        </ButtonLink>
      </header>
      <div className="stats">
        <Stat value={formatNumber(requests)} label="HTTPS requests" />
        <Stat value={formatNumber(sum(({ connections }) => connections))} label="TCP connections" />
        <Stat value={formatNumber(sum(({ refused }) => refused))} label="Refused" tone="deny" />
        <Stat value={formatNumber(sum(({ warned }) => warned))} label="Warned" tone="warn" />
        {newest?.p99_ms === null || newest === undefined ? null : (
          <Stat value={formatNumber(Math.round(newest.p99_ms))} unit="ms" label="99th percentile" />
        )}
        <Stat
          value={tried === 0 ? '0' : ((100 * errors) / Math.max(tried, errors)).toFixed(2)}
          unit="%"
          label="Errors"
          {...(errors >= errorShare * tried && errors > 0 ? { tone: 'deny' as const } : {})}
        />
      </div>
      <div className="pad">
        <BarChart
          bars={buckets.map((bucket) => ({ key: bucket.start, values: [passed(bucket), bucket.refused] }))}
          series={passAndDeny}
          sentence={`Requests and connections a minute in the last hour: ${formatNumber(sum(passed))} let in, ${formatNumber(sum(({ refused }) => refused))} refused.`}
          ends={labelsOf(buckets)}
        />
      </div>
    </section>
  );
}

function Stat({
  value,
  unit,
  label,
  tone,
}: {
  readonly value: string;
  readonly unit?: string;
  readonly label: string;
  readonly tone?: Tone;
}) {
  return (
    <div>
      <span className="n">
        {value}
        {unit === undefined ? null : <small> {unit}</small>}
      </span>
      <span className="l">
        {tone === undefined ? null : <Glyph tone={tone} />}
        {label}
      </span>
    </div>
  );
}

function labelsOf(buckets: readonly TrafficBucket[]): readonly string[] {
  const at = (share: number): string =>
    formatClock(buckets[Math.floor(share * (buckets.length - 1))]?.start ?? Date.now());
  return [at(0), at(0.25), at(0.5), at(0.75), 'now'];
}
