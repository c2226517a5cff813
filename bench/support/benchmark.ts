import type { Section } from './report.ts';

export interface Settings {
  /** Short rounds, to check that a benchmark works; its figures are not for publication. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Duration of the load in one round. */
  readonly seconds: number;
}

/** One benchmark of `npm run bench`. */
export interface Benchmark {
  readonly name: string;
  /** One line about the things compared. */
  readonly summary: string;
  run(settings: Settings): Promise<Section>;
}
