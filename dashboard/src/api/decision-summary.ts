import type { DecisionSummary, Operations } from '../../../client/src/index.ts';
import { client } from './client.ts';
import { useRead } from './queries.ts';
import type { Read } from './queries.ts';

/** Conditions of what is counted; without any, all decisions of the account are. */
export type Counted = Pick<
  Operations['DecisionsSummary']['query'],
  'edge_id' | 'route_id' | 'backend_id' | 'policy_id' | 'restriction_id' | 'person' | 'source'
>;

export type SummaryPoint = DecisionSummary['points'][number];

const minuteMs = 60_000;
/** Length of a range, and of the intervals that it is shown in. */
const pictureRanges = {
  hour: { lengthMs: 60 * minuteMs, stepSeconds: 60 },
  day: { lengthMs: 24 * 60 * minuteMs, stepSeconds: 900 },
  week: { lengthMs: 7 * 24 * 60 * minuteMs, stepSeconds: 3600 },
} as const;
export type PictureRange = keyof typeof pictureRanges;

/** Decisions of the last hour, day or week by intervals, over all gateways that can be asked. */
export function useDecisionSummary(of: Counted, range: PictureRange): Read<DecisionSummary> {
  return useRead(
    ['DecisionsSummary', of, range],
    (signal) => {
      const { lengthMs, stepSeconds } = pictureRanges[range];
      const stepMs = stepSeconds * 1000;
      const untilMs = Math.ceil(Date.now() / stepMs) * stepMs;
      const times = { since: secondsOf(untilMs - lengthMs), until: secondsOf(untilMs), step: String(stepSeconds) };
      return client.call('DecisionsSummary', { query: { ...of, ...times }, signal });
    },
    { refreshMs: minuteMs / 2 },
  );
}

/** The range that was asked for, by the answer: while another one is read, the one before is shown. */
export function rangeOf({ step }: DecisionSummary): PictureRange {
  return step === pictureRanges.hour.stepSeconds ? 'hour' : step === pictureRanges.day.stepSeconds ? 'day' : 'week';
}

function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
