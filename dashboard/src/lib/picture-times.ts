const minuteMs = 60_000;
/** Length of a range, and of the intervals that it is shown in. */
const ranges = {
  hour: { lengthMs: 60 * minuteMs, stepSeconds: 60 },
  day: { lengthMs: 24 * 60 * minuteMs, stepSeconds: 900 },
  week: { lengthMs: 7 * 24 * 60 * minuteMs, stepSeconds: 3600 },
} as const;
export type PictureRange = keyof typeof ranges;

/** The whole intervals up to the one that goes on now, for a server that takes the second `until` as a part of the time. */
export function timesOf(range: PictureRange, nowMs: number): Readonly<Record<'since' | 'until' | 'step', string>> {
  const { lengthMs, stepSeconds } = ranges[range];
  const stepMs = stepSeconds * 1000;
  const endMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  return { since: isoSeconds(endMs - lengthMs), until: isoSeconds(endMs - 1000), step: String(stepSeconds) };
}

/** The range that was asked for, by the answer: while another one is read, the one before is shown. */
export function rangeOf({ step }: { readonly step: number }): PictureRange {
  return step === ranges.hour.stepSeconds ? 'hour' : step === ranges.day.stepSeconds ? 'day' : 'week';
}

/** RFC 3339 in whole seconds, as the server takes times. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
