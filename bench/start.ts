import type { Benchmark } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { atMost, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';

const counts = [100, 10_000, 100_000];
const comparedCount = 10_000;

export const start: Benchmark = {
  name: 'start',
  summary: 'P10: from starting the process until it says that it is ready, with so many edges in its database',
  async run({ rounds }) {
    const files = new Map<number, string>();
    for (const count of counts) files.set(count, await filledDatabase({ edges: count }));
    const nameOf = (count: number) => `${count.toLocaleString('en-US')} edges`;
    const alone = `${nameOf(comparedCount)}, one process`;
    const variants = [
      ...counts.map((count) => ({ name: nameOf(count), measure: () => measureStart(files.get(count) ?? '') })),
      { name: alone, measure: () => measureStart(files.get(comparedCount) ?? '', { workers: 'off' }) },
    ];
    const outcomes = await interleave(variants, { rounds: Math.min(rounds, 5), warmUps: 1 });
    const columns = [
      { figure: 'seconds', head: 's until ready' },
      { figure: 'cpuSeconds', head: 'CPU s' },
    ];
    const secondsOf = (name: string) =>
      figureOf(outcomes[variants.findIndex((variant) => variant.name === name)], 'seconds').median;
    return {
      title: 'start',
      lines: compare(variants, outcomes, columns, nameOf(100)),
      verdicts: [
        atMost('P10', 'seconds to ready with 100,000 edges', secondsOf(nameOf(100_000)), 5),
        atMost('start', 'ready with a worker ÷ one process', secondsOf(nameOf(comparedCount)) / secondsOf(alone), 1.5),
      ],
    };
  },
};

export async function measureStart(databaseFile: string, settings: Readonly<Record<string, string>> = {}) {
  await using gatehouse = await Gatehouse.start({ databaseFile, settings });
  return { seconds: gatehouse.startMs / 1000, cpuSeconds: gatehouse.process.processorSeconds };
}
