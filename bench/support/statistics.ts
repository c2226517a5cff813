/** What many rounds say about one figure. */
export interface Summary {
  readonly median: number;
  /** Half the distance between the quartiles, as a share of the median: 0.02 reads "± 2 %". */
  readonly spread: number;
  readonly count: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Linear between the two nearest values; NaN of nothing. */
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

/** 1.4826 makes the median absolute deviation that of a normal distribution. */
const madScale = 1.4826;
/** With so few values nothing can be called an outlier. */
const fewest = 4;

/** Which values lie more than `limit` deviations from the median, deviation measured by the median of all. */
export function isOutlier(values: readonly number[], limit = 4): (value: number) => boolean {
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle))) * madScale;
  // Values that agree to a percent are no outliers, however well the others agree.
  const allowed = Math.max(deviation * limit, Math.abs(middle) * 0.01);
  return (value) => values.length >= fewest && Math.abs(value - middle) > allowed;
}
