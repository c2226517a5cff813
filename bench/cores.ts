import { cpus } from 'node:os';

import type { Listening } from './support/bare-servers.ts';
import type { Benchmark } from './support/benchmark.ts';
import { allCores } from './support/cores.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { startCaddy, startNginx } from './support/https-proxies.ts';
import { loadColumns, measureLoad } from './support/measure.ts';
import { versionOf } from './support/peers.ts';
import type { Process } from './support/process.ts';
import { atLeast, atMost, compare, figureOf } from './support/report.ts';
import type { Verdict } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures, Outcome, Variant } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

/** Connections of the usual load, and of few clients that stay: of these the system may give one worker too many. */
const loads = { many: 64, few: 8 };
const columns = [...loadColumns, { figure: 'evenness', head: 'least ÷ most busy worker' }];

export const cores: Benchmark = {
  name: 'cores',
  summary:
    'HTTPS through 1, 2, 4 and 8 workers, as far as the machine has cores, beside nginx and Caddy with as many; the load runs on the same cores',
  async run({ rounds, seconds }) {
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const variants: Variant[] = [];
    const counts = [1, 2, 4, 8].filter((count) => count <= cpus().length);
    for (const count of counts) {
      const databaseFile = await filledDatabase({ edges: 1, rules: 1000, upstreamPort: upstream.port });
      const settings = { workers: String(count) };
      const gatehouse = started.use(await Gatehouse.start({ databaseFile, settings, cores: allCores }));
      for (const [kind, connections] of Object.entries(loads)) {
        variants.push(ofWorkers(`Gatehouse, ${count}, ${kind}`, gatehouse.process, gatehouse.httpsPort, connections));
      }
      for (const [name, start] of [
        ['nginx', startNginx],
        ['caddy', startCaddy],
      ] as const) {
        if (versionOf(name) === undefined) continue;
        const peer: Listening = started.use(await start(upstream.port, count));
        variants.push(ofWorkers(`${name}, ${count}, many`, peer.process, peer.port, loads.many));
      }
    }
    const outcomes = await interleave(variants, { rounds });
    return {
      title: 'all cores',
      lines: compare(variants, outcomes, columns, 'Gatehouse, 1, many'),
      verdicts: judge(counts, variants, outcomes),
    };

    function ofWorkers(name: string, server: Process, port: number, connections: number): Variant {
      const options = { port, tls: true, headers: { 'X-Debug': '1', Accept: '*/*' }, seconds, connections };
      return {
        name,
        async measure(): Promise<Figures> {
          const before = server.childSeconds;
          const figures = await measureLoad(server, options);
          const spent = [...server.childSeconds].map(([pid, after]) => after - (before.get(pid) ?? 0));
          return { ...figures, evenness: spent.length === 0 ? 1 : Math.min(...spent) / Math.max(...spent) };
        },
      };
    }
  },
};

function judge(counts: readonly number[], variants: readonly Variant[], outcomes: readonly Outcome[]): Verdict[] {
  const of = (variant: string, figure: string) =>
    figureOf(outcomes[variants.findIndex(({ name }) => name === variant)], figure).median;
  return counts.flatMap((count) => {
    if (count === 1) return [];
    const costs = of(`Gatehouse, ${count}, many`, 'cpuUs') / of('Gatehouse, 1, many', 'cpuUs');
    const shares = Object.keys(loads).map((kind) =>
      atLeast(
        'cores',
        `least ÷ most busy of ${count} workers, ${kind} connections`,
        of(`Gatehouse, ${count}, ${kind}`, 'evenness'),
        0.8,
      ),
    );
    return [atMost('cores', `CPU time a request, ${count} workers ÷ 1`, costs, 1.15), ...shares];
  });
}
