import type { Benchmark } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { atMost, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';

const counts = [100, 10_000, 100_000];

export const start: Benchmark = {
  name: 'start',
  summary: 'P10: from starting the process until it says that it is ready, with so many edges in its database',
  async run({ rounds }) {
    const files = new Map<number, string>();
    for (const count of counts) files.set(count, await filledDatabase({ edges: count }));
    const variants = counts.map((count) => ({
      name: `${count.toLocaleString('en-US')} edges`,
      measure: () => measureStart(files.get(count) ?? ''),
    }));
    const outcomes = await interleave(variants, { rounds: Math.min(rounds, 5), warmUps: 1 });
    const columns = [
      { figure: 'seconds', head: 's until ready' },
      { figure: 'cpuSeconds', head: 'CPU s' },
    ];
    return {
      title: 'start',
      lines: compare(variants, outcomes, columns, '100 edges'),
      verdicts: [atMost('P10', 'seconds to ready with 100,000 edges', figureOf(outcomes.at(-1), 'seconds').median, 5)],
    };
  },
};

export async function measureStart(databaseFile: string) {
  await using gatehouse = await Gatehouse.start({ databaseFile });
  return { seconds: gatehouse.startMs / 1000, cpuSeconds: gatehouse.process.processorSeconds };
}
