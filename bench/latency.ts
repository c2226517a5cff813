import type { Benchmark } from './support/benchmark.ts';
import { readRoutes } from './support/edges.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { runNodeLoad } from './support/load.ts';
import { atMost, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

const edgeCount = 10_000;
const requestsPerSecond = 1_000;
const changesPerSecond = 100;
/** Time that the load runs before it counts, and that changes continue after it. */
const marginSeconds = 0.5;

export const latency: Benchmark = {
  name: 'latency',
  summary: `P7: latency of ${requestsPerSecond} HTTPS requests a second, without changes and with ${changesPerSecond} a second among ${edgeCount} edges`,
  async run({ rounds, seconds }) {
    await using upstream = await startUpstream();
    const databaseFile = await filledDatabase({ edges: edgeCount, upstreamPort: upstream.port });
    const routes = readRoutes(databaseFile, 1000);
    await using gatehouse = await Gatehouse.start({ databaseFile });
    const wholeSeconds = seconds * 2 + marginSeconds;

    const traffic = async () => {
      const { p50Ms, p99Ms, maxMs } = await runNodeLoad({
        port: gatehouse.httpsPort,
        servername: 'localhost',
        method: 'GET',
        paths: ['/'],
        headers: { Host: 'localhost' },
        connections: 32,
        seconds: wholeSeconds,
        rate: requestsPerSecond,
        skipSeconds: marginSeconds,
      });
      return { p99Ms, p50Ms, maxMs };
    };
    const changes = () =>
      runNodeLoad({
        port: gatehouse.apiPort,
        method: 'PUT',
        paths: routes.map(({ path }) => `${path}/request_headers`),
        // 7 and the number of routes have no common divisor, so each PUT sends a value that its route does not have.
        bodies: Array.from({ length: 7 }, (_, at) =>
          JSON.stringify({ add: { 'x-turn': String(at) }, remove: ['x-debug'] }),
        ),
        headers: { ...gatehouse.headers, Host: 'localhost', 'Content-Type': 'application/json' },
        connections: 4,
        seconds: wholeSeconds + marginSeconds,
        rate: changesPerSecond,
      });
    const variants = [
      { name: 'no changes', measure: traffic },
      {
        name: `${changesPerSecond} changes a second`,
        async measure() {
          const [figures, made] = await Promise.all([traffic(), changes()]);
          return { ...figures, changesPerSecond: made.requests / made.seconds };
        },
      },
    ];
    const outcomes = await interleave(variants, { rounds });
    const [without = Number.NaN, during = Number.NaN] = outcomes.map((outcome) => figureOf(outcome, 'p99Ms').median);
    const columns = [
      { figure: 'p99Ms', head: 'p99 ms' },
      { figure: 'p50Ms', head: 'p50 ms' },
      { figure: 'maxMs', head: 'slowest ms' },
      { figure: 'changesPerSecond', head: 'changes/s' },
    ];
    return {
      title: 'traffic while the configuration changes',
      lines: compare(variants, outcomes, columns, 'no changes'),
      verdicts: [atMost('P7', 'p99 with changes ÷ p99 without', during / without, 1.3)],
    };
  },
};
