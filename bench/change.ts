import type { Benchmark } from './support/benchmark.ts';
import { changePeer, changeRoute } from './support/changes.ts';
import { startChangeableCaddy, startChangeableNginx } from './support/change-peers.ts';
import { readRoutes } from './support/edges.ts';
import type { FilledRoute } from './support/edges.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { versionOf } from './support/peers.ts';
import { atLeast, atMost, compare, figureOf } from './support/report.ts';
import type { Verdict } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Outcome, Variant } from './support/rounds.ts';
import { median } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

const few = 10_000;
const many = 100_000;
const gatehouseName = (count: number) => `Gatehouse, ${count.toLocaleString('en-US')} edges`;
const peerName = (name: string) => `${name}, ${few.toLocaleString('en-US')} hosts`;
/** Changes in one round; each takes a few milliseconds. */
const changesAtOnce = 20;

export const change: Benchmark = {
  name: 'change',
  summary: 'P6: one change among many edges, from the request until traffic shows it',
  async run({ rounds }) {
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const variants: Variant[] = [];
    for (const count of [few, many]) {
      const databaseFile = await filledDatabase({ edges: count, upstreamPort: upstream.port });
      const routes = readRoutes(databaseFile, 10);
      const gatehouse = started.use(await Gatehouse.start({ databaseFile }));
      variants.push(gatehouseVariant(gatehouseName(count), gatehouse, routes));
    }
    for (const [name, start] of [
      ['caddy', startChangeableCaddy],
      ['nginx', startChangeableNginx],
    ] as const) {
      if (versionOf(name) === undefined) continue;
      const peer = started.use(await start(few, upstream.port));
      let turn = 0;
      variants.push({
        name: peerName(name),
        measure: async () => ({
          ms: await changePeer(peer, (turn += 1) % few),
          megabytes: peer.process.residentMegabytes,
        }),
      });
    }
    const outcomes = await interleave(variants, { rounds: Math.min(rounds, 5), warmUps: 1 });
    const columns = [
      { figure: 'ms', head: 'ms until live' },
      { figure: 'megabytes', head: 'resident MB' },
    ];
    return {
      title: 'one change until it is live',
      lines: compare(variants, outcomes, columns, gatehouseName(few)),
      verdicts: judge(variants, outcomes),
    };
  },
};

/** Changes the routes in turn; the connections that probe them stay open. */
export function gatehouseVariant(name: string, gatehouse: Gatehouse, routes: readonly FilledRoute[]): Variant {
  const changes = routes.map((route) => changeRoute(gatehouse, route));
  return {
    name,
    async measure() {
      const taken: number[] = [];
      for (let at = 0; at < changesAtOnce; at++) {
        const once = changes[at % changes.length];
        if (once !== undefined) taken.push(await once());
      }
      return { ms: median(taken), megabytes: gatehouse.process.residentMegabytes };
    },
  };
}

function judge(variants: readonly Variant[], outcomes: readonly Outcome[]): readonly Verdict[] {
  const of = (name: string) => figureOf(outcomes[variants.findIndex((variant) => variant.name === name)], 'ms').median;
  const beside = (['caddy', 'nginx'] as const).flatMap((name) =>
    versionOf(name) === undefined
      ? []
      : [atLeast('P6', `times sooner than ${name} with 10,000`, of(peerName(name)) / of(gatehouseName(few)), 200)],
  );
  return [...beside, atMost('P6', '100,000 edges ÷ 10,000', of(gatehouseName(many)) / of(gatehouseName(few)), 1.5)];
}
