import { setTimeout as sleep } from 'node:timers/promises';

import type { Benchmark, Settings } from './support/benchmark.ts';
import { loadCores } from './support/cores.ts';
import { hasWrk, runNodeLoad } from './support/load.ts';
import type { LoadOptions } from './support/load.ts';
import { measureLoad } from './support/measure.ts';
import { freePort, Process } from './support/process.ts';
import { atLeast, atMost, compare, figureOf, showNumber, table } from './support/report.ts';
import type { Column, Section } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures, Outcome } from './support/rounds.ts';
import { hasSsh, sshHint, startSshTunnel } from './support/ssh.ts';
import { median } from './support/statistics.ts';
import { agentAccess, said, startForAgents, startTunnel, visit } from './support/tunnel.ts';
import type { Tunnel } from './support/tunnel.ts';
import { startUpstream } from './support/upstream.ts';

interface Kind {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly options: Pick<LoadOptions, 'headers' | 'paths' | 'connections'>;
  /** Wanted ratio Gatehouse ÷ `ssh -R`. */
  readonly goal: number;
}

const kinds: readonly Kind[] = [
  {
    title: 'small requests on 32 open connections',
    columns: [
      { figure: 'perSecond', head: 'requests/s' },
      { figure: 'cpuUs', head: 'CPU µs/request' },
      { figure: 'p99Ms', head: 'p99 ms' },
    ],
    options: {},
    goal: 1,
  },
  {
    title: 'new connections: connect, one small exchange, close',
    columns: [
      { figure: 'perSecond', head: 'connections/s' },
      { figure: 'cpuUs', head: 'CPU µs/connection' },
    ],
    options: { headers: { Connection: 'close' } },
    goal: 0.7,
  },
  {
    title: 'bulk: a megabyte at a time on 8 connections',
    columns: [
      { figure: 'megabytesPerSecond', head: 'MB/s' },
      { figure: 'cpuUs', head: 'CPU µs/MB' },
    ],
    options: { paths: ['/bulk'], connections: 8 },
    goal: 0.9,
  },
];

const ours = 'Gatehouse, the npm library as its agent';
const peer = 'ssh -R';
const warmSessions = 500;

export const tunnel: Benchmark = {
  name: 'tunnel',
  summary: 'P12: a TCP endpoint of an agent (the hosted service’s npm library, unmodified) beside `ssh -R`',
  async run(settings) {
    if (!hasWrk) return { title: 'tunnels', lines: ['Left out: it needs `wrk`.'], verdicts: [] };
    if (!hasSsh) return { title: 'tunnels', lines: [sshHint], verdicts: [] };
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const through = started.use(await startTunnel(upstream.port));
    const ssh = started.use(await startSshTunnel(upstream.port));
    const places: readonly Place[] = [
      { name: ours, port: through.port, program: through.gatehouse.process },
      { name: peer, port: ssh.port, program: ssh.process },
    ];
    const sections: Section[] = [];
    for (const kind of kinds) sections.push(await measureKind(kind, places, settings));
    sections.push(await measureOneByOne(places, settings));
    sections.push(await measureHttp(through, upstream.port, settings));
    sections.push(await measureIdle(settings));
    sections.push(await measureLive(through, settings));
    return {
      title: 'traffic through an agent',
      lines: sections.flatMap(({ title, lines }) => [`${title}:`, '', ...lines, '']).slice(0, -1),
      verdicts: sections.flatMap(({ verdicts }) => verdicts),
    };
  },
};

interface Place {
  readonly name: string;
  readonly port: number;
  readonly program: Process;
}

async function measureKind(kind: Kind, places: readonly Place[], { rounds, seconds }: Settings): Promise<Section> {
  const key = kind.columns[0]?.figure ?? '';
  const variants = places.map(({ name, port, program }) => ({
    name,
    async measure(): Promise<Figures> {
      const figures = await measureLoad(program, { ...kind.options, port, seconds: Math.max(2, seconds) });
      // The figure of the kind comes first, because outliers are detected by the first.
      return { [key]: figures[key] ?? Number.NaN, ...figures };
    },
  }));
  const outcomes = await interleave(variants, { rounds, warmUps: 3 });
  const [title = ''] = kind.title.split(':', 1);
  return {
    title: kind.title,
    lines: compare(variants, outcomes, kind.columns, peer),
    verdicts: [atLeast('P12', `${title} × ssh -R`, ratioOf(outcomes, key), kind.goal)],
  };
}

async function measureOneByOne(places: readonly Place[], { rounds, seconds }: Settings): Promise<Section> {
  const variants = places.map(({ name, port }) => ({
    name,
    async measure(): Promise<Figures> {
      const request = { method: 'GET', paths: ['/'], headers: { Host: 'localhost' } };
      const { p50Ms, p99Ms } = await runNodeLoad({ ...request, port, connections: 1, seconds });
      return { p50Ms, p99Ms };
    },
  }));
  const outcomes = await interleave(variants, { rounds });
  const columns = [
    { figure: 'p50Ms', head: 'p50 ms' },
    { figure: 'p99Ms', head: 'p99 ms' },
  ];
  return {
    title: 'one request at a time',
    lines: compare(variants, outcomes, columns, peer),
    verdicts: [
      atMost('P12', 'p50 one at a time × ssh -R', ratioOf(outcomes, 'p50Ms'), 1.2),
      atMost('P12', 'p99 one at a time × ssh -R', ratioOf(outcomes, 'p99Ms'), 0.5),
    ],
  };
}

/** HTTPS by the same gateway to the same upstream, through the agent and straight. */
async function measureHttp({ gatehouse }: Tunnel, upstreamPort: number, settings: Settings): Promise<Section> {
  const group = await gatehouse.create('/backends/tunnel_group', { labels: { app: 'bench' } });
  const straight = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstreamPort}` });
  const edge = await gatehouse.create('/edges/https', { hostports: ['localhost:443'] });
  for (const [match, backend] of [
    ['/', straight],
    ['/agent', group],
  ]) {
    const route = { match_type: 'path_prefix', match, backend: { backend_id: backend } };
    await gatehouse.create(`/edges/https/${edge}/routes`, route);
  }
  const variants = [
    ['HTTPS through the agent', '/agent'] as const,
    ['HTTPS straight to the upstream', '/'] as const,
  ].map(([name, path]) => ({
    name,
    measure: () =>
      measureLoad(gatehouse.process, {
        port: gatehouse.httpsPort,
        tls: true,
        paths: [path],
        seconds: settings.seconds,
      }),
  }));
  const outcomes = await interleave(variants, { rounds: settings.rounds });
  const columns = [
    { figure: 'perSecond', head: 'requests/s' },
    { figure: 'cpuUs', head: 'CPU µs/request' },
    { figure: 'p99Ms', head: 'p99 ms' },
  ];
  return {
    title: 'HTTPS',
    lines: compare(variants, outcomes, columns, 'HTTPS straight to the upstream'),
    verdicts: [atLeast('P12', 'HTTPS through an agent × straight', ratioOf(outcomes, 'perSecond'), 0.6)],
  };
}

/** Times of things that happen once: a rule, and the death of the server. */
async function measureLive(through: Tunnel, { rounds, quick }: Settings): Promise<Section> {
  const { gatehouse, port } = through;
  const policy = await gatehouse.create('/ip_policies', {});
  await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy, cidr: '10.0.0.0/8', action: 'allow' });
  const restriction = await gatehouse.create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [policy] });
  const ruleMs: number[] = [];
  for (let round = 0; round < rounds * 4; round++) {
    const enforced = round % 2 === 0;
    const startMs = performance.now();
    await gatehouse.call('PATCH', `/ip_restrictions/${restriction}`, { enforced });
    const served = await visit(port).then(
      () => true,
      () => false,
    );
    ruleMs.push(performance.now() - startMs);
    if (served === enforced) throw new Error('a rule was not in force when the call was answered');
  }
  await gatehouse.call('DELETE', `/ip_restrictions/${restriction}`);
  const recoveries: number[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) recoveries.push(await through.killAndRecover());
  return {
    title: 'until it is live',
    lines: table(
      ['what', 'median', 'longest'],
      [
        ['ms from a call that changes a rule until the next visitor has obeyed it', ...showTimes(ruleMs)],
        ['s from kill -9 of the server until a visitor is served by the agent again', ...showTimes(recoveries)],
      ],
    ),
    verdicts: [],
  };
}

function showTimes(times: readonly number[]): readonly [string, string] {
  return [showNumber(median(times)), showNumber(Math.max(...times))];
}

async function measureIdle({ quick }: Settings): Promise<Section> {
  const count = quick ? 1000 : 5000;
  const agentPort = await freePort();
  await using gatehouse = await (await startForAgents(agentPort))();
  const { token, ca } = await agentAccess(gatehouse);
  const program = new URL('servers/idle-agents.ts', import.meta.url).pathname;
  const open = async (sessions: number): Promise<Process> => {
    const agents = new Process([process.execPath, program, String(agentPort), ca, token, String(sessions)], {
      cores: loadCores,
    });
    await said(agents, /^(OPEN)$/m);
    await sleep(quick ? 1000 : 12_000);
    return agents;
  };
  // Code and caches that the first sessions need do not count.
  await using warm = await open(warmSessions);
  const before = gatehouse.process.residentMegabytes;
  await using idle = await open(count);
  const after = gatehouse.process.residentMegabytes;
  const kilobytes = ((after - before) * 1024) / count;
  void [warm, idle];
  return {
    title: `${count.toLocaleString('en-US')} idle sessions`,
    lines: [`${showNumber(before)} MB before, ${showNumber(after)} MB with them: ${showNumber(kilobytes)} kB each.`],
    verdicts: [atMost('P12', 'kB of memory for an idle session', kilobytes, 60)],
  };
}

/** The first variant ÷ the second. */
function ratioOf([first, second]: readonly Outcome[], figure: string): number {
  return figureOf(first, figure).median / figureOf(second, figure).median;
}
