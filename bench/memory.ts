import { setTimeout as sleep } from 'node:timers/promises';

import type { Benchmark } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { load } from './support/load.ts';
import { atMost, showNumber, table } from './support/report.ts';
import { startUpstream } from './support/upstream.ts';

const limits = [
  { edges: 100, megabytes: undefined },
  { edges: 10_000, megabytes: 250 },
  { edges: 100_000, megabytes: 600 },
];

export const memory: Benchmark = {
  name: 'memory',
  summary: 'P9: resident memory of one process with many edges: when it is ready, and after traffic and a rest',
  async run({ seconds }) {
    await using upstream = await startUpstream();
    const rows: string[][] = [];
    const verdicts = [];
    for (const { edges, megabytes } of limits) {
      const { ready, rested } = await measureMemory(edges, upstream.port, seconds);
      rows.push([edges.toLocaleString('en-US'), showNumber(ready), showNumber(rested)]);
      const what = `resident MB with ${edges.toLocaleString('en-US')} edges`;
      if (megabytes !== undefined) verdicts.push(atMost('P9', what, Math.max(ready, rested), megabytes));
    }
    return {
      title: 'resident memory',
      lines: table(['edges', 'MB when ready', 'MB after traffic and a rest'], rows),
      verdicts,
    };
  },
};

export async function measureMemory(
  edges: number,
  upstreamPort: number,
  seconds: number,
): Promise<{ readonly ready: number; readonly rested: number }> {
  await using gatehouse = await Gatehouse.start({ databaseFile: await filledDatabase({ edges, upstreamPort }) });
  const ready = gatehouse.process.residentMegabytes;
  await load({ port: gatehouse.httpsPort, tls: true, seconds });
  await sleep(1000);
  return { ready, rested: gatehouse.process.residentMegabytes };
}
