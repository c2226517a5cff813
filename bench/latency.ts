import { cidrNumber } from './support/addresses.ts';
import type { Benchmark } from './support/benchmark.ts';
import { readRoutes } from './support/edges.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { runNodeLoad } from './support/load.ts';
import { atMost, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

const edgeCount = 10_000;
const requestsPerSecond = 1_000;
const changesPerSecond = 100;
const bulkRules = 100_000;
/** Bulk changes a round: ten and more in a run. */
const bulkChanges = 3;
const warmUps = 2;
/** Time that the load runs before it counts, and that changes continue after it. */
const marginSeconds = 0.5;

export const latency: Benchmark = {
  name: 'latency',
  summary: `P7: latency of ${requestsPerSecond} HTTPS requests a second, without changes, with ${changesPerSecond} a second among ${edgeCount} edges, and with bulk changes of ${bulkRules} rules`,
  async run({ rounds, seconds }) {
    await using upstream = await startUpstream();
    const databaseFile = await filledDatabase({ edges: edgeCount, upstreamPort: upstream.port });
    await using gatehouse = await Gatehouse.start({ databaseFile });
    const trafficSeconds = seconds * 2;
    const change = await smallChanges(gatehouse, databaseFile);
    const replace = await bulkReplacement(gatehouse);
    /** The slowest request of each round. */
    const slowestMs: number[] = [];
    const variants = [
      { name: 'no changes', measure: () => traffic(gatehouse, trafficSeconds) },
      {
        name: `${changesPerSecond} changes a second`,
        async measure() {
          const [figures, made] = await Promise.all([traffic(gatehouse, trafficSeconds), change(trafficSeconds)]);
          return { ...figures, changesPerSecond: made };
        },
      },
      {
        name: `${bulkChanges} changes of ${bulkRules.toLocaleString('en-US')} rules`,
        async measure() {
          const { figures, bulkSeconds } = await besideBulk(gatehouse, replace);
          slowestMs.push(figures['maxMs'] ?? Number.NaN);
          return { ...figures, changesPerSecond: bulkChanges / bulkSeconds };
        },
      },
    ];
    const outcomes = await interleave(variants, { rounds, warmUps });
    const ratio = (name: string) => {
      const [without = Number.NaN, during = Number.NaN] = outcomes.map((outcome) => figureOf(outcome, name).median);
      return during / without;
    };
    const columns = [
      { figure: 'p99Ms', head: 'p99 ms' },
      { figure: 'p50Ms', head: 'p50 ms' },
      { figure: 'p999Ms', head: 'p99.9 ms' },
      { figure: 'maxMs', head: 'slowest ms' },
      { figure: 'changesPerSecond', head: 'changes/s' },
    ];
    return {
      title: 'traffic while the configuration changes',
      lines: compare(variants, outcomes, columns, 'no changes'),
      verdicts: [
        atMost('P7', 'p99 with changes ÷ p99 without', ratio('p99Ms'), 1.3),
        atMost('P7', 'p99.9 with changes ÷ p99.9 without', ratio('p999Ms'), 1.3),
        atMost('P7', 'slowest request beside bulk changes, ms', Math.max(...slowestMs.slice(warmUps)), 50),
      ],
    };
  },
};

async function traffic(gatehouse: Gatehouse, seconds: number): Promise<Figures> {
  const { p50Ms, p99Ms, p999Ms, maxMs } = await runNodeLoad({
    port: gatehouse.httpsPort,
    servername: 'localhost',
    method: 'GET',
    paths: ['/'],
    headers: { Host: 'localhost' },
    connections: 32,
    seconds: marginSeconds + seconds,
    rate: requestsPerSecond,
    skipSeconds: marginSeconds,
  });
  return { p99Ms, p50Ms, p999Ms, maxMs };
}

/** Returns a load of changes that each touch one route; it resolves with its rate. */
async function smallChanges(gatehouse: Gatehouse, databaseFile: string): Promise<(seconds: number) => Promise<number>> {
  const paths = readRoutes(databaseFile, 1000).map(({ path }) => `${path}/request_headers`);
  // 7 and the number of routes have no common divisor, so each PUT sends a value that its route does not have.
  const bodies = Array.from({ length: 7 }, (_, at) =>
    JSON.stringify({ add: { 'x-turn': String(at) }, remove: ['x-debug'] }),
  );
  return async (seconds) => {
    const made = await runNodeLoad({
      port: gatehouse.apiPort,
      method: 'PUT',
      paths,
      bodies,
      headers: { ...gatehouse.headers, Host: 'localhost', 'Content-Type': 'application/json' },
      connections: 4,
      seconds: seconds + 2 * marginSeconds,
      rate: changesPerSecond,
    });
    return made.requests / made.seconds;
  };
}

/** Returns a change that replaces all rules of a policy by others. Their texts are made before anything is measured. */
async function bulkReplacement(gatehouse: Gatehouse): Promise<() => Promise<void>> {
  const policy = await gatehouse.create('/ip_policies', {});
  const lists = [1, bulkRules + 1].map((first) =>
    Buffer.from(JSON.stringify(Array.from({ length: bulkRules }, (_, at) => cidrNumber(first + at)))),
  );
  let turn = 0;
  return async () => {
    const answer = await fetch(`http://127.0.0.1:${gatehouse.apiPort}/ip_policies/${policy}/rules`, {
      method: 'PUT',
      headers: { ...gatehouse.headers, 'Content-Type': 'application/json' },
      body: lists[turn++ % lists.length] ?? '',
    });
    if (answer.status !== 200) throw new Error(`a bulk change was answered by ${await answer.text()}`);
  };
}

/** Measures traffic for as long as the bulk changes take, which is found out as they are made. */
async function besideBulk(
  gatehouse: Gatehouse,
  replace: () => Promise<void>,
): Promise<{ readonly figures: Figures; readonly bulkSeconds: number }> {
  const startMs = performance.now();
  await replace();
  const oneSeconds = (performance.now() - startMs) / 1000;
  const measured = traffic(gatehouse, oneSeconds * bulkChanges + marginSeconds);
  const bulkStartMs = performance.now();
  for (let at = 0; at < bulkChanges; at++) await replace();
  const bulkSeconds = (performance.now() - bulkStartMs) / 1000;
  return { figures: await measured, bulkSeconds };
}
