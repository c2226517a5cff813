import { cidrNumber } from './support/addresses.ts';
import type { Benchmark, Settings } from './support/benchmark.ts';
import { Gatehouse, newDatabaseFile } from './support/gatehouse.ts';
import { Process } from './support/process.ts';
import { atMost, showNumber, showSummary, table } from './support/report.ts';
import type { Section } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { median, summarize } from './support/statistics.ts';

const replacedRules = 100_000;

export const match: Benchmark = {
  name: 'match',
  summary: 'P8: source checks against 100 to 1,000,000 CIDRs, and 100,000 rules replaced by one call',
  async run(settings) {
    const [lookups, replacing] = [await measureLookups(settings), await measureReplacing(settings)];
    return {
      title: 'source checks',
      lines: [...lookups.lines, '', ...replacing.lines],
      verdicts: [...lookups.verdicts, ...replacing.verdicts],
    };
  },
};

interface Lookups {
  readonly nanoseconds: Readonly<Record<string, readonly number[]>>;
  readonly sets: readonly {
    readonly size: number;
    readonly buildMs: number;
    readonly bytes4: number;
    readonly bytes6: number;
  }[];
}

async function measureLookups({ rounds, quick }: Settings): Promise<Section> {
  const { nanoseconds, sets } = await runProgram<Lookups>('match-lookups', [String(rounds * 2), quick ? '100' : '250']);
  const cost = (name: string) => median(nanoseconds[name] ?? []);
  const show = (name: string) => {
    const taken = nanoseconds[name];
    return taken === undefined ? '–' : `${showSummary(summarize(taken))} ns`;
  };
  const rows = sets.map(({ size, buildMs, bytes4, bytes6 }) => [
    size.toLocaleString('en-US'),
    ...['ipv4', 'ipv6'].map((family) => show(`${family} ${size}`)),
    ...['ipv4', 'ipv6'].map((family) => show(`BlockList ${family} ${size}`)),
    showNumber(buildMs),
    `${showNumber(bytes4)} / ${showNumber(bytes6)}`,
  ]);
  const largest = sets.at(-1);
  const worstBytes = Math.max(
    ...sets.filter(({ size }) => size >= 10_000).flatMap(({ bytes4, bytes6 }) => [bytes4, bytes6]),
  );
  return {
    title: '',
    lines: [
      'CPU time of one check, from the text of an address:',
      '',
      ...table(
        ['CIDRs', 'IPv4', 'IPv6', 'net.BlockList IPv4', 'net.BlockList IPv6', 'build ms (IPv4)', 'bytes a rule'],
        rows,
      ),
    ],
    verdicts: [
      ...['ipv4', 'ipv6'].map((family) =>
        atMost('P8', `${family}: 1,000,000 × 100`, cost(`${family} ${largest?.size}`) / cost(`${family} 100`), 1.5),
      ),
      atMost('P8', 'bytes a rule, from 10,000 on', worstBytes, 16),
    ],
  };
}

interface Floor {
  readonly parseMs: number;
  readonly storeMs: number;
  readonly packMs: number;
}

async function measureReplacing({ rounds }: Settings): Promise<Section> {
  await using gatehouse = await Gatehouse.start();
  const many = Array.from({ length: replacedRules }, (_, at) => cidrNumber(at + 1));
  const large = await gatehouse.create('/ip_policies', {});
  await gatehouse.call('PUT', `/ip_policies/${large}/rules`, many);
  let added = 0;
  const variants = [
    {
      name: 'one rule added to an empty policy',
      measure: async () => {
        const policy = await gatehouse.create('/ip_policies', {});
        const rule = { ip_policy_id: policy, cidr: '192.0.2.0/24', action: 'allow' };
        return { ms: await time(() => gatehouse.call('POST', '/ip_policy_rules', rule)) };
      },
    },
    {
      name: 'one rule added to a policy of 100,000',
      measure: async () => {
        added += 1;
        const rule = { ip_policy_id: large, cidr: `192.0.2.${added}/32`, action: 'allow' };
        return { ms: await time(() => gatehouse.call('POST', '/ip_policy_rules', rule)) };
      },
    },
    {
      name: '100,000 rules put into an empty policy',
      measure: async () => {
        const policy = await gatehouse.create('/ip_policies', {});
        return { ms: await time(() => gatehouse.call('PUT', `/ip_policies/${policy}/rules`, many)) };
      },
    },
    {
      name: 'building them once, row by row: read, store, pack',
      measure: async () => {
        const { parseMs, storeMs, packMs } = await runProgram<Floor>('rules-floor', [
          String(replacedRules),
          await newDatabaseFile(),
        ]);
        return { ms: parseMs + storeMs + packMs, parseMs, storeMs, packMs };
      },
    },
  ];
  const outcomes = await interleave(variants, { rounds: Math.min(rounds, 5), warmUps: 1 });
  const [one = 0, , all = 0, floor = 0] = outcomes.map(({ figures }) => figures['ms']?.median ?? Number.NaN);
  const rows = variants.map(({ name }, at) => [name, showSummary(summarizeMs(outcomes[at]?.figures['ms']))]);
  return {
    title: '',
    lines: ['From the request to the answer, which is when it is live:', '', ...table(['', 'ms'], rows)],
    verdicts: [
      atMost('P8', '100,000 rules at once ÷ (10 × one rule + building them once)', all / (10 * one + floor), 1),
    ],
  };
}

function summarizeMs(summary: ReturnType<typeof summarize> | undefined) {
  return summary ?? { median: Number.NaN, spread: Number.NaN, count: 0 };
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Runs a program of `bench/servers/` that prints one JSON object and ends. */
async function runProgram<Result>(name: string, args: readonly string[]): Promise<Result> {
  const path = new URL(`servers/${name}.ts`, import.meta.url).pathname;
  await using program = new Process([process.execPath, path, ...args]);
  // The caller names the type that the program prints.
  return JSON.parse(await program.ended()) as Result;
}
