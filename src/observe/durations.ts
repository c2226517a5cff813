/** Durations are counted in steps of a quarter of a doubling, from a tenth of a millisecond to more than an hour. */
export const durationSteps = 112;
const stepsInDoubling = 4;
const firstStepMs = 0.1;

export function stepOf(durationMs: number): number {
  const step = Math.floor(Math.log2(Math.max(durationMs, firstStepMs) / firstStepMs) * stepsInDoubling);
  return Math.min(step, durationSteps - 1);
}

/** The duration that this share did not exceed, to a fifth; undefined where nothing was counted. */
export function quantileOf(steps: ArrayLike<number>, share: number): number | undefined {
  let total = 0;
  for (let step = 0; step < steps.length; step++) total += steps[step] ?? 0;
  if (total === 0) return undefined;
  let left = Math.ceil(total * share);
  for (let step = 0; step < steps.length; step++) {
    left -= steps[step] ?? 0;
    if (left <= 0) return firstStepMs * 2 ** ((step + 0.5) / stepsInDoubling);
  }
  return undefined;
}
