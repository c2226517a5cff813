import { startServer } from './support/bare-servers.ts';
import type { Benchmark, Settings } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { hasWrk } from './support/load.ts';
import type { LoadOptions } from './support/load.ts';
import { measureLoad } from './support/measure.ts';
import { versionOf } from './support/peers.ts';
import { freePort } from './support/process.ts';
import type { Process } from './support/process.ts';
import { atLeast, compare, figureOf } from './support/report.ts';
import type { Column, Section } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { startTcpHaproxy, startTcpNginx } from './support/tcp-proxies.ts';
import { startUpstream } from './support/upstream.ts';

interface Proxy {
  readonly name: string;
  readonly process: Process;
  readonly port: number;
}

interface Kind {
  readonly title: string;
  /** Wanted ratio Gatehouse ÷ HAProxy. */
  readonly goal: number;
  readonly columns: readonly Column[];
  readonly options: Pick<LoadOptions, 'headers' | 'paths' | 'connections'>;
  /** Rounds that do not count; default: that of `interleave`. */
  readonly warmUps?: number;
}

/** Kinds of load. All send HTTP, because the ends of its messages are easy to find; the proxies do not parse it. */
const kinds: readonly Kind[] = [
  {
    title: 'new connections: connect, one small exchange, close',
    goal: process.arch === 'x64' ? 0.6 : 0.33,
    columns: [
      { figure: 'perSecond', head: 'connections/s' },
      { figure: 'cpuUs', head: 'CPU µs/connection' },
      { figure: 'busy', head: 'cores busy' },
    ],
    options: { headers: { Connection: 'close' } },
    // Opening and closing run much code of Node's sockets, but only a few thousand times a second: the cost of a
    // connection falls by a third over the first seven seconds, until all of it is optimised.
    warmUps: 8,
  },
  {
    title: 'ping-pong: small exchanges on open connections',
    goal: 0.23,
    columns: [
      { figure: 'perSecond', head: 'exchanges/s' },
      { figure: 'cpuUs', head: 'CPU µs/exchange' },
      { figure: 'busy', head: 'cores busy' },
    ],
    options: {},
  },
  {
    title: 'bulk: a megabyte at a time',
    goal: 0.6,
    columns: [
      { figure: 'megabytesPerSecond', head: 'MB/s' },
      { figure: 'cpuUs', head: 'CPU µs/MB' },
      { figure: 'busy', head: 'cores busy' },
    ],
    options: { paths: ['/bulk'], connections: 8 },
  },
];

export const tcp: Benchmark = {
  name: 'tcp',
  summary: 'P5: TCP through a proxy that checks the source against 1,000 CIDRs',
  async run(settings) {
    if (!hasWrk) return { title: 'TCP', lines: ['Left out: it needs `wrk`.'], verdicts: [] };
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const gatehouse = started.use(await startEdge(upstream.port));
    const bare = started.use(await startServer('bare-tcp', [String(upstream.port)]));
    const proxies: Proxy[] = [{ name: 'Gatehouse', process: gatehouse.process, port: gatehouse.edgePort }];
    proxies.push({ name: 'node:net, pipe, no check', process: bare.process, port: bare.port });
    for (const [name, start] of [
      ['haproxy', startTcpHaproxy],
      ['nginx', startTcpNginx],
    ] as const) {
      if (versionOf(name) === undefined) continue;
      const peer = started.use(await start(upstream.port));
      proxies.push({ name, process: peer.process, port: peer.port });
    }
    const sections: Section[] = [];
    for (const kind of kinds) sections.push(await measureKind(kind, proxies, settings));
    return {
      title: 'connections through the gateway',
      lines: sections.flatMap(({ title, lines }) => [`${title}:`, '', ...lines, '']).slice(0, -1),
      verdicts: sections.flatMap(({ verdicts }) => verdicts),
    };
  },
};

async function measureKind(kind: Kind, proxies: readonly Proxy[], { rounds }: Settings): Promise<Section> {
  const key = kind.columns[0]?.figure ?? '';
  const variants = proxies.map(({ name, process: program, port }) => ({
    name,
    async measure() {
      const figures = await measureLoad(program, { ...kind.options, port, seconds: 1 });
      // The figure of the kind comes first, because outliers are detected by the first.
      return { [key]: figures[key] ?? Number.NaN, ...figures };
    },
  }));
  const outcomes = await interleave(variants, { rounds, ...(kind.warmUps && { warmUps: kind.warmUps }) });
  const base = proxies.some(({ name }) => name === 'haproxy') ? 'haproxy' : 'node:net, pipe, no check';
  const at = (name: string) => figureOf(outcomes[proxies.findIndex((proxy) => proxy.name === name)], key).median;
  return {
    title: kind.title,
    lines: compare(variants, outcomes, kind.columns, base),
    verdicts:
      base === 'haproxy'
        ? [atLeast('P5', `${kind.title.split(':', 1)[0]} × HAProxy`, at('Gatehouse') / at(base), kind.goal)]
        : [],
  };
}

/** Starts a Gatehouse with one TCP edge. */
async function startEdge(upstreamPort: number) {
  const databaseFile = await filledDatabase({ rules: 1000 });
  const gatehouse = await Gatehouse.start({ databaseFile, settings: { 'tcp-ports': '1024-65535' } });
  const edgePort = await freePort();
  const policies = await gatehouse.call('GET', '/ip_policies');
  // The list has this form, and one policy is in the database.
  const [policy] = policies['ip_policies'] as readonly { readonly id: string }[];
  const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstreamPort}` });
  await gatehouse.create('/edges/tcp', {
    hostports: [`localhost:${edgePort}`],
    backend: { backend_id: backend },
    ip_restriction: { ip_policy_ids: [policy?.id] },
  });
  return { process: gatehouse.process, edgePort, [Symbol.asyncDispose]: () => gatehouse[Symbol.asyncDispose]() };
}
