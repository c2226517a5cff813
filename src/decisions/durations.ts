/** Buckets of durations from one power of two to the next, in microseconds. */
export const bucketsOfOctave = 8;

/** Number of requests by bucket. */
export type DurationCounts = Readonly<Record<number, number>>;

/** A duration of the bucket, in microseconds: within 5 percent of each that it counts. */
function durationOf(bucket: number): number {
  return bucket <= 0 ? 0 : 2 ** ((bucket - 0.5) / bucketsOfOctave);
}

/** The duration that this share of requests does not exceed, in microseconds; undefined where there are none. */
export function quantile(counts: DurationCounts, share: number): number | undefined {
  const buckets = Object.entries(counts)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .toSorted(([a], [b]) => a - b);
  const all = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(all * share));
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 0) return durationOf(bucket);
  }
  return undefined;
}
