import { machineTimes, processorSecondsWithEnded } from './processor-time.ts';
import { isOutlier, summarize } from './statistics.ts';
import type { Summary } from './statistics.ts';

/** One of several implementations that are compared. */
export interface Variant {
  readonly name: string;
  measure(): Promise<Figures>;
}

/** Measurements by name; outliers are detected by the first. */
export type Figures = Readonly<Record<string, number>>;

export interface RoundOptions {
  readonly rounds: number;
  /** Measurements before those that count: V8 goes on optimising for some eight seconds, and its last steps are a tenth. */
  readonly warmUps?: number;
}

export interface Outcome {
  readonly figures: Readonly<Record<string, Summary>>;
  /** Number of rounds thrown away. */
  readonly dropped: number;
  /** True when too few rounds were undisturbed, so that all were used. */
  readonly disturbed: boolean;
}

interface Sample {
  readonly figures: Figures;
  readonly quiet: boolean;
}

/** Share of one core; a round is disturbed if other programs use more than this. */
const foreignLimit = 0.08;
const stealLimit = 0.02;
/** Minimum of undisturbed rounds; with fewer, all rounds are used. */
const fewestQuiet = 3;

/**
 * Measures the variants in turn, in alternating order (A, B, C, C, B, A, A …) so that none always comes first. A round
 * counts if the machine did nothing else meanwhile; up to as many again replace those that do not.
 */
export async function interleave(variants: readonly Variant[], options: RoundOptions): Promise<readonly Outcome[]> {
  const samples = variants.map((): Sample[] => []);
  const { rounds, warmUps = 4 } = options;
  for (let at = 0; at < warmUps; at++) for (const variant of variants) await variant.measure();
  for (let round = 0; round < rounds * 2; round++) {
    const forth = [...variants.entries()];
    for (const [at, variant] of round % 2 === 0 ? forth : forth.toReversed()) {
      const taken = samples[at] ?? [];
      if (taken.filter(({ quiet }) => quiet).length < rounds) taken.push(await takeSample(variant));
    }
  }
  return samples.map(evaluate);
}

async function takeSample(variant: Variant): Promise<Sample> {
  const before = readTimes();
  const figures = await variant.measure();
  const after = readTimes();
  const elapsed = after.at - before.at;
  const foreign = (after.busy - before.busy - (after.ours - before.ours)) / elapsed;
  const stolen = (after.stolen - before.stolen) / elapsed;
  return { figures, quiet: foreign < foreignLimit && stolen < stealLimit };
}

function readTimes() {
  return { ...machineTimes(), ours: processorSecondsWithEnded(process.pid), at: performance.now() / 1000 };
}

function evaluate(samples: readonly Sample[]): Outcome {
  const quiet = samples.filter((sample) => sample.quiet);
  const disturbed = quiet.length < Math.min(fewestQuiet, samples.length);
  const used = disturbed ? samples : quiet;
  const key = (sample: Sample) => Object.values(sample.figures)[0] ?? Number.NaN;
  const outlying = isOutlier(used.map(key));
  const kept = used.filter((sample) => !outlying(key(sample)));
  const names = Object.keys(kept[0]?.figures ?? {});
  const figures = names.map(
    (name) => [name, summarize(kept.map((sample) => sample.figures[name] ?? Number.NaN))] as const,
  );
  return { figures: Object.fromEntries(figures), dropped: samples.length - kept.length, disturbed };
}
