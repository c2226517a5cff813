import type { Benchmark } from './support/benchmark.ts';
import { Gatehouse, newDatabaseFile, startGateway } from './support/gatehouse.ts';
import { runNodeLoad } from './support/load.ts';
import type { NodeLoadOptions } from './support/node-load.ts';
import { freePort } from './support/process.ts';
import { atMost, compare, figureOf, showNumber } from './support/report.ts';
import type { Column } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures, Variant } from './support/rounds.ts';
import { setUp } from './support/setup.ts';
import { median } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

const times = 3;
const requestsPerSecond = 300;
/** Clients with so many connections; what is due while all of them wait for an answer is offered, but not sent. */
const apiConnections = 1_000;
/** The clients that flood the API share a core with those whose waiting is measured, and must not add to it. */
const floodNiceness = 10;
/** Time that the load runs before it counts: connections are opened, and clients that are shed have learned to wait. */
const marginSeconds = 2;

type Calls = Omit<NodeLoadOptions, 'connections' | 'seconds'>;

/** An API and a gateway under load, on the same core: of one process, of one with workers, or of two over one database. */
interface Layout extends AsyncDisposable {
  readonly name: string;
  readonly calls: Calls;
  readonly httpsPort: number;
  /** Calls that the API answers in a second, 64 at a time. */
  readonly sustained: number;
}

const columns: readonly Column[] = [
  { figure: 'p99Ms', head: 'traffic p99 ms' },
  { figure: 'p50Ms', head: 'traffic p50 ms' },
  { figure: 'offered', head: 'calls offered × sustained' },
  { figure: 'admitted', head: 'admitted × sustained' },
  { figure: 'shedShare', head: 'shed %' },
  { figure: 'heldBackShare', head: 'not sent, as told to wait %' },
  { figure: 'admittedP99Ms', head: 'admitted p99 ms' },
];

export const overload: Benchmark = {
  name: 'overload',
  summary: `P11: POST at ${times} × the rate that the API sustains, beside ${requestsPerSecond} HTTPS requests a second, in one process, with workers for the traffic, and with the roles apart`,
  async run({ rounds, seconds }) {
    await using upstream = await startUpstream();
    await using together = await startLayout('one process', upstream.port, seconds);
    await using workers = await startLayout('two workers', upstream.port, seconds);
    await using apart = await startLayout('roles apart', upstream.port, seconds);
    const layouts = [together, workers, apart];
    const variants = layouts.flatMap((layout) => variantsOf(layout, seconds));
    const outcomes = await interleave(variants, { rounds, warmUps: 1 });
    const [alone, flooded, workersAlone, workersFlooded, apartAlone, apartFlooded] = outcomes;
    const p99 = (outcome: typeof alone) => figureOf(outcome, 'p99Ms').median;
    return {
      title: 'more calls than the API can serve',
      lines: [
        ...layouts.map(
          ({ name, sustained }) =>
            `The API sustains ${showNumber(sustained)} calls a second here, 64 at a time (${name}).`,
        ),
        '',
        ...compare(variants, outcomes, columns, variants[0]?.name ?? ''),
      ],
      verdicts: [
        atMost('P11', 'p99 of admitted calls ÷ 1 s', figureOf(flooded, 'admittedP99Ms').median / 1000, 1),
        atMost('P11', 'p99 of traffic beside overload ÷ alone', p99(flooded) / p99(alone), 3),
        atMost('P11', 'the same, two workers', p99(workersFlooded) / p99(workersAlone), 3),
        atMost('P11', 'the same, roles apart', p99(apartFlooded) / p99(apartAlone), 3),
      ],
    };
  },
};

async function startLayout(name: Layout['name'], upstreamPort: number, seconds: number): Promise<Layout> {
  await using started = new AsyncDisposableStack();
  // All connections come from one address here.
  const connections = String(2 * apiConnections);
  const isApart = name === 'roles apart';
  const settings = {
    'tcp-ports': '1024-65535',
    'api-connections': connections,
    'api-source-connections': connections,
    workers: name === 'two workers' ? '2' : 'off',
  };
  const databaseFile = await newDatabaseFile();
  const gatehouse = started.use(
    await Gatehouse.start({ databaseFile, settings: isApart ? { ...settings, role: 'api' } : settings }),
  );
  await setUp(gatehouse, upstreamPort, await freePort());
  const httpsPort = isApart ? started.use(await startGateway(databaseFile, settings)).port : gatehouse.httpsPort;
  const calls: Calls = {
    port: gatehouse.apiPort,
    method: 'POST',
    paths: ['/api_keys'],
    bodies: ['{"description":"a key"}'],
    headers: { ...gatehouse.headers, Host: 'localhost', 'Content-Type': 'application/json' },
  };
  const sustained = await measureSustained(calls, seconds);
  const running = started.move();
  return { name, calls, httpsPort, sustained, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function variantsOf(layout: Layout, seconds: number): readonly Variant[] {
  return [
    { name: `${layout.name}: traffic alone`, measure: () => loadTraffic(layout, seconds) },
    {
      name: `${layout.name}: beside ${times} × the load`,
      async measure() {
        const [figures, flooded] = await Promise.all([loadTraffic(layout, seconds), flood(layout, seconds)]);
        return { ...figures, ...flooded };
      },
    },
  ];
}

async function loadTraffic({ httpsPort }: Layout, seconds: number): Promise<Figures> {
  const { p50Ms, p99Ms } = await runNodeLoad({
    port: httpsPort,
    servername: 'localhost',
    method: 'GET',
    paths: ['/'],
    headers: { Host: 'localhost' },
    connections: 32,
    seconds: seconds + marginSeconds,
    rate: requestsPerSecond,
    skipSeconds: marginSeconds,
  });
  return { p99Ms, p50Ms };
}

async function flood({ calls, sustained }: Layout, seconds: number): Promise<Figures> {
  const load = {
    ...calls,
    connections: apiConnections,
    seconds: seconds + marginSeconds,
    rate: times * sustained,
    skipSeconds: marginSeconds,
    mayShed: true,
  };
  const { requests, shed, unsent, p99Ms } = await runNodeLoad(load, floodNiceness);
  const offered = requests + shed + unsent;
  return {
    shedShare: (shed / offered) * 100,
    heldBackShare: (unsent / offered) * 100,
    admittedP99Ms: p99Ms,
    offered: offered / seconds / sustained,
    admitted: requests / seconds / sustained,
  };
}

/** Measures the rate at which calls are answered that come one after another on 64 connections. */
async function measureSustained(calls: Calls, seconds: number): Promise<number> {
  const rates: number[] = [];
  // The first run warms up.
  for (let round = 0; round < 4; round++) {
    const { requests, seconds: elapsed } = await runNodeLoad({ ...calls, connections: 64, seconds });
    if (round > 0) rates.push(requests / elapsed);
  }
  return median(rates);
}
