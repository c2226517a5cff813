/** Statistics of one figure over many rounds. */
export interface Summary {
  readonly median: number;
  /** Half the distance between the quartiles, as a share of the median: 0.02 reads "± 2 %". */
  readonly spread: number;
  readonly count: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Interpolates linearly between the two nearest values; NaN for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

export function summarize(values: readonly number[]): Summary {
  const middle = median(values);
  const spread = (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / middle;
  return { median: middle, spread, count: values.length };
}

/** Factor from the median absolute deviation to the standard deviation of a normal distribution. */
const madScale = 1.4826;
/** Minimum of values to detect outliers. */
const fewest = 4;

/** Returns a test for values more than `limit` scaled median absolute deviations from the median. */
export function isOutlier(values: readonly number[], limit = 4): (value: number) => boolean {
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle))) * madScale;
  // Values within one percent of the median are no outliers, however small the deviation of the others.
  const allowed = Math.max(deviation * limit, Math.abs(middle) * 0.01);
  return (value) => values.length >= fewest && Math.abs(value - middle) > allowed;
}
