import type { Listening } from './support/bare-servers.ts';
import type { Benchmark } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { hasH2load, underH2Load } from './support/h2-load.ts';
import { startCaddy, startHaproxy, startNginx } from './support/https-proxies.ts';
import { versionOf } from './support/peers.ts';
import { atLeast, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Variant } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

const ours = 'Gatehouse, 1 worker';

export const http2: Benchmark = {
  name: 'http2',
  summary: 'P4: the work of `https` over HTTP/2 (load from h2load: 4 connections with 8 streams each)',
  async run({ rounds, seconds }) {
    const title = 'requests through the gateway over HTTP/2';
    if (!hasH2load) {
      return { title, lines: ['Left out: h2load is not installed (`apt-get install nghttp2-client`).'], verdicts: [] };
    }
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const databaseFile = await filledDatabase({ edges: 1, rules: 1000, upstreamPort: upstream.port });
    const gatehouse = started.use(await Gatehouse.start({ databaseFile }));
    const options = (port: number) => ({ port, headers: { 'x-debug': '1', 'x-internal': '1' }, seconds });
    const variants: Variant[] = [underH2Load(ours, gatehouse.process, options(gatehouse.httpsPort))];
    for (const [name, start] of [
      ['nginx', startNginx],
      ['haproxy', startHaproxy],
      ['caddy', startCaddy],
    ] as const) {
      if (versionOf(name) === undefined) continue;
      const peer: Listening = started.use(await start(upstream.port));
      variants.push(underH2Load(name, peer.process, options(peer.port)));
    }
    const outcomes = await interleave(variants, { rounds });
    const of = (variant: string) =>
      figureOf(outcomes[variants.findIndex(({ name }) => name === variant)], 'perSecond').median;
    const columns = [
      { figure: 'perSecond', head: 'requests/s' },
      { figure: 'cpuUs', head: 'CPU µs/request' },
      { figure: 'busy', head: 'cores busy' },
    ];
    const hasCaddy = versionOf('caddy') !== undefined;
    return {
      title,
      lines: compare(variants, outcomes, columns, versionOf('nginx') === undefined ? ours : 'nginx'),
      verdicts: hasCaddy ? [atLeast('P4', 'HTTP/2: one worker × Caddy', of(ours) / of('caddy'), 1.3)] : [],
    };
  },
};
