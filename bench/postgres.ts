import { createDatabase, startPostgres } from '../test/support/postgres.ts';
import { startServer } from './support/bare-servers.ts';
import type { Benchmark, Settings } from './support/benchmark.ts';
import { changeRoute } from './support/changes.ts';
import { keyMetadata } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import type { LoadOptions } from './support/load.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { atLeast, compare, figureOf, showNumber, table } from './support/report.ts';
import type { Section } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { setUp } from './support/setup.ts';
import { median } from './support/statistics.ts';
import { freePort } from './support/process.ts';
import { startUpstream } from './support/upstream.ts';

const onSqlite = 'Gatehouse on SQLite';
const onPostgres = 'Gatehouse on PostgreSQL';
const ports = { 'tcp-ports': '1024-65535' };
/** Changes in all, of which each takes some milliseconds. */
const changes = 50;

export const postgres: Benchmark = {
  name: 'postgres',
  summary:
    'P13: the API on PostgreSQL, with a server of its own on the core of the load, beside SQLite and a bare `pg`; both durable',
  async run(settings) {
    await using server = await startPostgres({ fsync: true });
    await using upstream = await startUpstream();
    const url = await createDatabase(server.url);
    await using local = await Gatehouse.start({ settings: ports });
    await using remote = await Gatehouse.start({ settings: { ...ports, 'database-url': url } });
    await using bare = await startServer('fastify-postgres', [await createDatabase(server.url)]);
    const paths = new Map<Gatehouse, string>();
    for (const each of [local, remote]) {
      paths.set(each, (await setUp(each, upstream.port, await freePort())).keyPath);
    }
    const reads = (path: (each: Gatehouse) => string) =>
      [local, remote].map((each) =>
        underLoad(each === local ? onSqlite : onPostgres, each.process, {
          port: each.apiPort,
          headers: each.headers,
          paths: [path(each)],
          seconds: settings.seconds,
        }),
      );
    const writes = (connections: number) => [
      ...[local, remote].map((each) =>
        underLoad(
          each === local ? onSqlite : onPostgres,
          each.process,
          posts(each, each.apiPort, connections, settings),
        ),
      ),
      underLoad(
        'Fastify and `pg`, one bare row, one commit',
        bare.process,
        posts(local, bare.port, connections, settings),
      ),
    ];
    const sections = [
      await section('POST of a key, 32 at a time', writes(32), settings, 0.7),
      await section('POST of a key, one at a time', writes(1), settings),
      await section(
        'GET of one key',
        reads((each) => paths.get(each) ?? ''),
        settings,
      ),
      await section(
        'a list of 100 keys',
        reads(() => '/api_keys?limit=100'),
        settings,
      ),
      await otherProcess(remote, url),
    ];
    return {
      title: 'PostgreSQL',
      lines: sections.flatMap(({ title, lines }, at) => [...(at === 0 ? [] : ['']), `${title}:`, '', ...lines]),
      verdicts: sections.flatMap(({ verdicts }) => verdicts),
    };
  },
};

function posts(gatehouse: Gatehouse, port: number, connections: number, { seconds }: Settings): LoadOptions {
  return {
    port,
    connections,
    method: 'POST',
    paths: ['/api_keys'],
    headers: { ...gatehouse.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ description: 'a key', metadata: keyMetadata }),
    seconds,
  };
}

async function section(
  title: string,
  variants: readonly ReturnType<typeof underLoad>[],
  { rounds }: Settings,
  goal?: number,
): Promise<Section> {
  const outcomes = await interleave(variants, { rounds });
  const [sqlite = Number.NaN, pg = Number.NaN] = outcomes.map((outcome) => figureOf(outcome, 'perSecond').median);
  return {
    title,
    lines: compare(variants, outcomes, loadColumns, onSqlite),
    verdicts: goal === undefined ? [] : [atLeast('P13', `${title}: PostgreSQL × SQLite`, pg / sqlite, goal)],
  };
}

/** A change through one process until traffic through another one shows it. */
async function otherProcess(gatehouse: Gatehouse, url: string): Promise<Section> {
  await using other = await Gatehouse.start({ settings: { 'database-url': url } });
  const edges = await gatehouse.call('GET', '/edges/https');
  // The list of edges has this form, and there is one edge with one route.
  const [edge] = edges['https_edges'] as readonly {
    readonly uri: string;
    readonly routes: readonly { readonly id: string }[];
  }[];
  const path = `${new URL(edge?.uri ?? '').pathname}/routes/${edge?.routes[0]?.id}`;
  const rows = [];
  for (const [name, port] of [
    ['the same process', gatehouse.httpsPort],
    ['another process', other.httpsPort],
  ] as const) {
    const once = changeRoute(gatehouse, { host: 'localhost', path }, port);
    const taken: number[] = [];
    for (let at = 0; at < changes; at++) taken.push(await once());
    rows.push([name, showNumber(median(taken)), showNumber(Math.max(...taken))]);
  }
  return {
    title: 'One change until traffic shows it',
    lines: table(['traffic through', 'ms until live, median', 'longest'], rows),
    verdicts: [],
  };
}
