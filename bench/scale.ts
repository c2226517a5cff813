import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { createDatabase, startPostgres } from '../test/support/postgres.ts';
import { changeRoute } from './support/changes.ts';
import { fillDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { allCores } from './support/cores.ts';
import { describeProcessor } from './support/machine.ts';
import { processorSecondsWithEnded, residentMegabytes } from './support/processor-time.ts';
import { showNumber, table } from './support/report.ts';
import { scratchFolder } from './support/scratch.ts';
import { quantile } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `npm run bench:scale -- [--edges N] [--rules N] [--followers N] [--changes N] [--away N] [--write]`: one PostgreSQL with
 * very many edges and rules, an API, three whole gateways, and followers: processes that follow changes by the same code
 * and keep what a gateway keeps, without listeners. As many of them are started as the memory holds. `--write` puts the
 * figures into docs/performance.md, where there is a place for this number of edges.
 */
const { values } = parseArgs({
  options: {
    edges: { type: 'string', default: '1000000' },
    rules: { type: 'string', default: '10000000' },
    followers: { type: 'string', default: '97' },
    changes: { type: 'string', default: '10000' },
    // One a second for an hour.
    away: { type: 'string', default: '3600' },
    write: { type: 'boolean', default: false },
  },
});
const [edges, rules, followerCount, changes, away] = [
  values.edges,
  values.rules,
  values.followers,
  values.changes,
  values.away,
].map(Number) as [number, number, number, number, number];
const gatewayCount = 3;
const rulesOfPolicy = 1000;
/** Of so many changes, one is looked at through the traffic of a gateway, which costs more than the change. */
const lookedAt = 50;
/** The share of the free memory that followers may take: the database and the system need some. */
const memoryShare = 0.7;
const readyMs = 3_600_000;

class Follower {
  readonly child: ChildProcess;
  /** The clock when a version came into force. */
  readonly seen = new Map<number, number>();
  version = 0;

  private constructor(url: string) {
    const path = new URL('support/follower.ts', import.meta.url).pathname;
    this.child = spawn(process.execPath, ['--max-old-space-size=16384', path, url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    process.once('exit', () => this.child.kill('SIGKILL'));
    if (this.child.stdout === null) throw new Error('it has no output');
    createInterface(this.child.stdout).on('line', (line) => {
      if (line === 'loaded') return;
      const [version = 0, atMs = 0] = line.split(' ').map(Number);
      this.seen.set(version, atMs);
      this.version = version;
    });
  }

  /** Resolves when the program is loaded; it has not asked the database yet. */
  static async start(url: string): Promise<Follower> {
    const follower = new Follower(url);
    if (follower.child.stdout !== null) await once(follower.child.stdout, 'data');
    return follower;
  }

  go(): void {
    this.child.stdin?.write('go\n');
  }

  /** Resolves with the clock when it has followed up to the version. */
  async reached(version: number): Promise<number> {
    while (this.version < version) {
      if (this.child.exitCode !== null) throw new Error('a follower ended');
      await pause(5);
    }
    return Math.min(...[...this.seen].flatMap(([each, atMs]) => (each >= version ? [atMs] : [])));
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const clock = () => performance.timeOrigin + performance.now();
const rows: (readonly [string, string])[] = [];
const say = (what: string, figure: string): void => {
  rows.push([what, figure]);
  process.stdout.write(`${what}: ${figure}\n`);
};
const ms = (times: readonly number[]) =>
  [0.5, 0.99, 1].map((share) => showNumber(quantile(times, share))).join(' / ') + ' ms (p50 / p99 / slowest)';
/** Bytes that a process has read, most of them from the database. */
const bytesRead = (pid: number) => Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);

await using server = await startPostgres({ fsync: true, connections: 1200 });
await using upstream = await startUpstream();
const url = await createDatabase(server.url);
const fillStart = clock();
const policies = Math.max(1, Math.round(rules / rulesOfPolicy));
await fillDatabase(url, { edges, rules, policies, upstreamPort: upstream.port });
const database = new pg.Client({ connectionString: url });
await database.connect();
const one = async (sql: string) => Number(Object.values((await database.query(sql)).rows[0] ?? {})[0]);
say(
  'in the database',
  `${edges.toLocaleString('en-US')} edges, ${rules.toLocaleString('en-US')} rules in ${policies.toLocaleString('en-US')} policies; ` +
    `${showNumber((await one('SELECT pg_database_size(current_database())')) / 1e6)} MB, filled in ${showNumber((clock() - fillStart) / 1000)} s`,
);

const folder = await scratchFolder();
const settings = { 'database-url': url, 'drain-seconds': '0' };
const ofGateway = (at: number) => ({ ...settings, 'snapshot-file': join(folder, `gateway-${at}.snapshot`) });
const nodeArguments = ['--max-old-space-size=16384'];
await using api = await Gatehouse.start({
  settings: { ...settings, role: 'api' },
  nodeArguments,
  readyMs,
  cores: allCores,
});
say('API: start until ready', `${showNumber(api.startMs / 1000)} s, ${showNumber(api.process.residentMegabytes)} MB`);
await using stack = new AsyncDisposableStack();
const gateways: Gatehouse[] = [];
for (let at = 0; at < gatewayCount; at++) {
  const form = { settings: ofGateway(at), nodeArguments, readyMs, cores: allCores };
  gateways.push(stack.use(await Gatehouse.start(form)));
}
say(
  'a whole gateway: cold start until ready',
  gateways.map(({ startMs }) => showNumber(startMs / 1000)).join(', ') + ' s',
);
say(
  'a whole gateway: memory, workers included',
  gateways.map(({ process: { residentMegabytes: megabytes } }) => showNumber(megabytes)).join(', ') + ' MB',
);

// Cold starts at once.
const newest = () => one('SELECT version FROM store_version');
const first = await Follower.start(url);
first.go();
await first.reached(await newest());
const each = residentMegabytes(first.child.pid ?? 0);
const room = Math.floor(((freemem() / 2 ** 20) * memoryShare) / each);
const others = Math.max(0, Math.min(followerCount - 1, room));
const followers = [first];
process.setMaxListeners(others + 20);
for (let at = 0; at < others; at++) followers.push(await Follower.start(url));
say(
  'followers (the code of a gateway that follows changes, without listeners)',
  `${followers.length} of ${followerCount} wanted, ${showNumber(each)} MB each`,
);
const goMs = clock();
const serverSeconds = processorSecondsWithEnded(server.process.pid ?? 0);
for (const follower of followers.slice(1)) follower.go();
const base = await newest();
const cold = await Promise.all(followers.slice(1).map(async (follower) => (await follower.reached(base)) - goMs));
if (cold.length > 0) {
  say(`${cold.length} cold starts at once, the program loaded before`, ms(cold));
  const used = (processorSecondsWithEnded(server.process.pid ?? 0) - serverSeconds) / cold.length;
  say('processor time of the database for each of them', `${showNumber(used)} s`);
}

// Changes, one after another.
const routes = await readRoutes();
const pids = [...followers.map(({ child }) => child.pid ?? 0), ...gateways.map(({ process: { pid } }) => pid)];
const before = pids.map(bytesRead);
const live: number[] = [];
const sentAt: number[] = [];
const measures = gateways.map(({ httpsPort }) => changeRoute(api, routes[0] ?? { host: '', path: '' }, httpsPort));
const start = await newest();
for (let at = 0; at < changes; at++) {
  sentAt.push(clock());
  if (at % lookedAt === 0) live.push((await measures[(at / lookedAt) % gatewayCount]?.()) ?? Number.NaN);
  else await changeOf(at);
}
const end = await newest();
await Promise.all(followers.map((follower) => follower.reached(end)));
const arrivals: number[] = [];
for (const { seen } of followers) {
  // Several versions may come into force together.
  let [atMs, versions] = [0, [...seen].toSorted(([a], [b]) => b - a)];
  let next = versions.length - 1;
  for (let at = 0; at < changes; at++) {
    while (next > 0 && (versions[next]?.[0] ?? 0) < start + at + 1) next--;
    atMs = versions[next]?.[1] ?? Number.NaN;
    arrivals.push(Math.max(0, atMs - (sentAt[at] ?? 0)));
  }
}
say(`${changes.toLocaleString('en-US')} changes, from the call until in force at each follower`, ms(arrivals));
say('a change, from the call until the traffic of a gateway shows it', ms(live));
const read = pids.map((pid, at) => (bytesRead(pid) - (before[at] ?? 0)) / changes);
say(
  'bytes read for a change, by a follower or gateway',
  `${showNumber(quantile(read, 0.5))} (most: ${showNumber(Math.max(...read))})`,
);

// An hour away.
const last = gateways.at(-1);
await last?.process[Symbol.asyncDispose]();
for (let at = 0; at < away; at++) await changeOf(at);
const back = await Gatehouse.start({ settings: ofGateway(gatewayCount - 1), nodeArguments, readyMs, cores: allCores });
stack.use(back);
const shown = await changeRoute(api, routes[0] ?? { host: '', path: '' }, back.httpsPort)();
say(
  `back after ${away.toLocaleString('en-US')} changes, with its snapshot file: until ready with all of them`,
  `${showNumber(back.startMs / 1000)} s; the next change ${showNumber(shown)} ms`,
);

const lines = [describeProcessor(), '', ...table(['what', 'figure'], rows)];
process.stdout.write(`\n${lines.join('\n')}\n`);
if (values.write) {
  const page = new URL('../docs/performance.md', import.meta.url);
  const mark = `<!-- scale of ${edges} edges: written by bench/scale.ts -->`;
  const endMark = '<!-- end of scale -->';
  const [head = '', rest = ''] = readFileSync(page, 'utf8').split(mark);
  if (rest === '') throw new Error(`docs/performance.md has no place for it: ${mark} and ${endMark}`);
  const tail = rest.slice(rest.indexOf(endMark));
  writeFileSync(page, `${head}${mark}\n\n${lines.join('\n')}\n\n${tail}`);
}
for (const { child } of followers) child.kill('SIGKILL');
await database.end();

async function changeOf(at: number): Promise<void> {
  const { path } = routes[1 + (at % (routes.length - 1))] ?? { path: '' };
  await api.call('PUT', `${path}/response_headers`, { add: { 'x-at': `${at} ${clock()}` } });
}

/** Some routes, that of `localhost` first. */
async function readRoutes(): Promise<readonly { readonly host: string; readonly path: string }[]> {
  const found = await database.query<{ host: string; edge: string; id: string }>(
    `SELECT h.hostname AS host, r.edge_id AS edge, r.id AS id
     FROM https_edge_routes r JOIN https_edge_hostnames h ON h.edge_id = r.edge_id ORDER BY r.id LIMIT 1000`,
  );
  return found.rows.map(({ host, edge, id }) => ({ host, path: `/edges/https/${edge}/routes/${id}` }));
}
