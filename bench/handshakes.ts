import type { Listening } from './support/bare-servers.ts';
import type { Benchmark } from './support/benchmark.ts';
import { loadCores } from './support/cores.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { startCaddy, startHaproxy, startNginx } from './support/https-proxies.ts';
import { versionOf } from './support/peers.ts';
import { Process } from './support/process.ts';
import { compare } from './support/report.ts';
import type { Column } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures, Variant } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

const ours = 'Gatehouse, 1 worker';
const clients = new URL('servers/tls-clients.ts', import.meta.url).pathname;

export const handshakes: Benchmark = {
  name: 'handshakes',
  summary:
    'New TLS connections with one request each, with a full handshake and with a resumed session (TLS 1.2 and 1.3)',
  async run({ rounds, seconds }) {
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const databaseFile = await filledDatabase({ edges: 1, rules: 1000, upstreamPort: upstream.port });
    const gatehouse = started.use(await Gatehouse.start({ databaseFile }));
    const servers: (readonly [string, Process, number])[] = [[ours, gatehouse.process, gatehouse.httpsPort]];
    for (const [name, start] of [
      ['nginx', startNginx],
      ['haproxy', startHaproxy],
      ['caddy', startCaddy],
    ] as const) {
      if (versionOf(name) === undefined) continue;
      const peer: Listening = started.use(await start(upstream.port));
      servers.push([name, peer.process, peer.port]);
    }
    const columns: readonly Column[] = [
      { figure: 'perSecond', head: 'connections/s' },
      { figure: 'cpuUs', head: 'CPU µs/connection' },
      { figure: 'resumed', head: 'share resumed' },
    ];
    const lines: string[] = [];
    for (const [heading, flags] of [
      ['full handshakes, TLS 1.3', ['TLSv1.3', 'new']],
      ['resumed sessions, TLS 1.3', ['TLSv1.3', 'resumed']],
      ['resumed sessions, TLS 1.2', ['TLSv1.2', 'resumed']],
    ] as const) {
      const variants = servers.map(([name, server, port]): Variant => ({
        name,
        measure: () => measure(server, port, seconds, flags),
      }));
      const outcomes = await interleave(variants, { rounds, warmUps: 1 });
      const base = servers.some(([name]) => name === 'nginx') ? 'nginx' : ours;
      lines.push(...(lines.length === 0 ? [] : ['']), `${heading}:`, '', ...compare(variants, outcomes, columns, base));
    }
    return { title: 'new TLS connections', lines, verdicts: [] };
  },
};

async function measure(server: Process, port: number, seconds: number, flags: readonly string[]): Promise<Figures> {
  const before = server.processorSeconds;
  const command = [process.execPath, clients, String(port), String(seconds), ...flags];
  await using program = new Process(command, { cores: loadCores });
  // The program prints this.
  const { connections, resumed } = JSON.parse(await program.ended()) as Readonly<Record<string, number>>;
  const count = connections ?? 0;
  return {
    perSecond: count / seconds,
    cpuUs: ((server.processorSeconds - before) / count) * 1e6,
    resumed: (resumed ?? 0) / count,
  };
}
