import type { Section } from './report.ts';

export interface Settings {
  /** Short rounds: to see that it works, not to quote. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Of load in one round. */
  readonly seconds: number;
}

/** One benchmark of `npm run bench`. */
export interface Benchmark {
  readonly name: string;
  /** What is compared, in a line. */
  readonly summary: string;
  run(settings: Settings): Promise<Section>;
}
