import type { Benchmark } from './support/benchmark.ts';
import { Process } from './support/process.ts';
import { atMost, showNumber, table } from './support/report.ts';

const rules = 1_000_000;
const goal = 'proofs';

interface Proved {
  readonly parseMs: number;
  readonly coverMs: number;
  readonly compareMs: number;
  readonly idle: number;
  readonly longestTurnMs: number;
}

export const proofs: Benchmark = {
  name: 'proofs',
  summary: 'a million rules: which never decide, who is admitted, and who is new after a change',
  async run() {
    const path = new URL('servers/rule-proofs.ts', import.meta.url).pathname;
    await using program = new Process([process.execPath, path, String(rules)]);
    // The program prints this.
    const { parseMs, coverMs, compareMs, idle, longestTurnMs } = JSON.parse(await program.ended()) as Proved;
    const rows = [
      ['read the texts of the rules', parseMs],
      [`find the ${idle.toLocaleString('en-US')} that never decide, and who is admitted`, coverMs],
      ['compare who is admitted before and after a change of a thousand rules', compareMs],
    ] as const;
    const allMs = parseMs + coverMs + compareMs;
    return {
      title: 'proofs about rules',
      lines: [
        `${rules.toLocaleString('en-US')} rules, half of them IPv6, in slices:`,
        '',
        ...table(
          ['', 'CPU ms'],
          rows.map(([name, ms]) => [name, showNumber(ms)]),
        ),
      ],
      verdicts: [
        atMost(goal, 'all three, CPU ms', allMs, 5000),
        atMost(goal, 'all three ÷ reading the texts', allMs / parseMs, 5),
        atMost(goal, 'longest turn, CPU ms', longestTurnMs, 20),
      ],
    };
  },
};
