import { readFileSync } from 'node:fs';

import type { Benchmark } from './support/benchmark.ts';
import { Gatehouse } from './support/gatehouse.ts';
import type { LoadOptions } from './support/load.ts';
import { loadColumns, measureLoad, underLoad } from './support/measure.ts';
import type { Process } from './support/process.ts';
import { freePort } from './support/process.ts';
import { atMost, compare, figureOf, showNumber } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Variant } from './support/rounds.ts';
import { scratchFolder } from './support/scratch.ts';
import { setUp } from './support/setup.ts';
import { startUpstream } from './support/upstream.ts';

const without = 'without decisions';
const kept = 'decisions kept';
/** Goal for the processes that carry traffic. */
const mostOfTraffic = 1.02;

export const decisions: Benchmark = {
  name: 'decisions',
  summary: 'HTTPS requests through a gateway that keeps every decision about visitors, beside one that keeps none',
  async run({ rounds, seconds }) {
    await using upstream = await startUpstream();
    await using keepsNone = await Gatehouse.start({ settings: { 'tcp-ports': '1024-65535' } });
    await using keepsAll = await Gatehouse.start({
      settings: { 'tcp-ports': '1024-65535', decisions: await scratchFolder() },
    });
    for (const gatehouse of [keepsNone, keepsAll]) await setUp(gatehouse, upstream.port, await freePort());
    const options = ({ httpsPort }: Gatehouse): LoadOptions => ({ port: httpsPort, tls: true, seconds });
    const variants = [
      underLoad(without, keepsNone.process, options(keepsNone)),
      withKeeper(kept, keepsAll.process, options(keepsAll)),
    ];
    const outcomes = await interleave(variants, { rounds });
    const of = (at: number, figure: string) => figureOf(outcomes[at], figure).median;
    const [base, all, keeper] = [of(0, 'cpuUs'), of(1, 'cpuUs'), of(1, 'keeperUs')];
    return {
      title: 'What decisions about visitors cost',
      lines: [
        ...compare(variants, outcomes, loadColumns, without),
        '',
        `Of that, the keeper takes ${showNumber(keeper)} µs a request, at a lower priority than traffic. With it, decisions kept ÷ without is ${showNumber(all / base)}.`,
      ],
      verdicts: [
        atMost('decisions', 'CPU time a request of traffic, kept ÷ without', (all - keeper) / base, mostOfTraffic),
      ],
    };
  },
};

/** The same, with the part of the process that keeps them. */
function withKeeper(name: string, server: Process, options: LoadOptions): Variant {
  return {
    name,
    async measure() {
      const before = keeperSeconds(server);
      const figures = await measureLoad(server, options);
      const requests = (figures['perSecond'] ?? Number.NaN) * options.seconds;
      return { ...figures, keeperUs: ((keeperSeconds(server) - before) / requests) * 1e6 };
    },
  };
}

function keeperSeconds(server: Process): number {
  for (const [pid, seconds] of server.childSeconds)
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('keeper-main')) return seconds;
  throw new Error('no process keeps decisions');
}
