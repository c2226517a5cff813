import { startServer } from './support/bare-servers.ts';
import type { Listening } from './support/bare-servers.ts';
import type { Benchmark } from './support/benchmark.ts';
import { certificateFiles } from './support/certificate.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { startCaddy, startHaproxy, startNginx } from './support/https-proxies.ts';
import type { LoadOptions } from './support/load.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { versionOf } from './support/peers.ts';
import { atLeast, atMost, compare, figureOf } from './support/report.ts';
import type { Verdict } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Outcome, Variant } from './support/rounds.ts';
import { startUpstream, upstreamBody } from './support/upstream.ts';

const oneWorker = 'Gatehouse, 1 worker';
const twoWorkers = 'Gatehouse, 2 workers on the same core';
const bare = 'node:https, answers by itself';

export const https: Benchmark = {
  name: 'https',
  summary: 'P4: HTTPS through a proxy: 2 request headers added, 2 removed, source checked against 1,000 CIDRs',
  async run({ rounds, seconds }) {
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const databaseFile = () => filledDatabase({ edges: 1, rules: 1000, upstreamPort: upstream.port });
    const single = started.use(await Gatehouse.start({ databaseFile: await databaseFile() }));
    const double = started.use(
      await Gatehouse.start({ databaseFile: await databaseFile(), settings: { workers: '2' } }),
    );
    const { certificate, key } = await certificateFiles();
    const answering = started.use(await startServer('bare-https', [certificate, key, upstreamBody]));

    const headers = { 'X-Debug': '1', 'X-Internal': '1', Accept: '*/*' };
    const options = (port: number): LoadOptions => ({ port, tls: true, headers, seconds });
    const peers: Variant[] = [];
    for (const [name, start] of [
      ['nginx', startNginx],
      ['haproxy', startHaproxy],
      ['caddy', startCaddy],
    ] as const) {
      if (versionOf(name) === undefined) continue;
      const peer: Listening = started.use(await start(upstream.port));
      peers.push(underLoad(name, peer.process, options(peer.port)));
    }
    const variants = [
      ...peers,
      underLoad(bare, answering.process, options(answering.port)),
      underLoad(oneWorker, single.process, options(single.httpsPort)),
      underLoad(twoWorkers, double.process, options(double.httpsPort)),
    ];
    const outcomes = await interleave(variants, { rounds });
    return {
      title: 'requests through the gateway',
      lines: compare(variants, outcomes, loadColumns, peers.some(({ name }) => name === 'nginx') ? 'nginx' : bare),
      verdicts: judge(variants, outcomes),
    };
  },
};

function judge(variants: readonly Variant[], outcomes: readonly Outcome[]): readonly Verdict[] {
  const of = (variant: string, figure: string) =>
    figureOf(outcomes[variants.findIndex(({ name }) => name === variant)], figure).median;
  const costs = atMost(
    'P4',
    'CPU time a request, 2 workers ÷ 1',
    of(twoWorkers, 'cpuUs') / of(oneWorker, 'cpuUs'),
    1.1,
  );
  // The goal was set for each processor by itself.
  const [peer, goal] = process.arch === 'x64' ? (['nginx', 0.6] as const) : (['caddy', 1.4] as const);
  if (!variants.some(({ name }) => name === peer)) return [costs];
  return [atLeast('P4', `one worker × ${peer}`, of(oneWorker, 'perSecond') / of(peer, 'perSecond'), goal), costs];
}
