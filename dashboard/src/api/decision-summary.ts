import type { DecisionSummary, DecisionTop, Operations } from '../../../client/src/index.ts';
import { timesOf } from '../lib/picture-times.ts';
import type { PictureRange } from '../lib/picture-times.ts';
import { client } from './client.ts';
import { useRead } from './queries.ts';
import type { Read } from './queries.ts';

/** Conditions of what is counted; without any, all decisions of the account are. */
type Counted = Omit<Operations['DecisionsSummary']['query'], 'since' | 'until' | 'step'>;

const minuteMs = 60_000;

/** Decisions of the last hour, day or week by intervals, over all gateways that can be asked. */
export function useDecisionSummary(of: Counted, range: PictureRange): Read<DecisionSummary> {
  return useRead(
    ['DecisionsSummary', of, range],
    (signal) => client.call('DecisionsSummary', { query: { ...of, ...timesOf(range, Date.now()) }, signal }),
    { refreshMs: minuteMs / 2 },
  );
}

/** Addresses that are named. */
const mostNamed = 3;
const none: DecisionTop['entries'] = [];

/** Addresses that were refused most often; none while nobody is asked. Decisions are counted one by one for it, so it is read seldom. */
export function useMostRefused(of: Counted, range: PictureRange, isWanted: boolean): DecisionTop['entries'] {
  const { data } = useRead(
    ['DecisionsTop', of, range],
    (signal) => {
      const { step: _step, ...times } = timesOf(range, Date.now());
      const query = { ...of, ...times, by: 'source', order: 'refused', top: String(mostNamed) };
      return client.call('DecisionsTop', { query, signal });
    },
    { refreshMs: 5 * minuteMs, enabled: isWanted },
  );
  return data?.entries ?? none;
}
