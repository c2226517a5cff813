/** Values over time that a plot draws. Bars stand on the axis, those of a later one before the earlier ones; `usual` is a broken line. */
export interface PlotSeries {
  readonly name: string;
  readonly look: 'pass' | 'warn' | 'deny' | 'usual' | 'line' | 'second';
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

/** The interval that a time is in, by its beginnings in ascending order; undefined where there is none. */
export function intervalAt(begins: readonly number[], step: number, time: number): number | undefined {
  const at = begins.findLastIndex((begin) => begin <= time);
  const begin = begins[at];
  return begin !== undefined && time < begin + step ? at : undefined;
}
