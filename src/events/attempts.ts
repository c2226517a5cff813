import { toTimestamp } from '../lib/ids.ts';
import type { Outcome } from './event.ts';
import type { DeliveryState } from './storage.ts';

const firstWaitMs = 5_000;
const longestWaitMs = 3_600_000;
/** A receiver that does not want an event is asked so often. */
const refusalsToGiveUp = 5;
/** A receiver that cannot be reached, or is broken, is waited for so long with each event. */
const patienceMs = 3 * 86_400_000;

export type FailedOutcome = Extract<Outcome, { kind: 'refused' | 'failed' }>;

export interface Failure {
  readonly state: DeliveryState;
  /** The event is kept aside, and the next one is tried. */
  readonly isGivenUp: boolean;
}

/** The state after an attempt that failed. `random` is between 0 and 1. */
export function afterFailure(state: DeliveryState, outcome: FailedOutcome, nowMs: number, random: number): Failure {
  const { kind, reason } = outcome;
  const failures = state.failures + 1;
  const failingSince = state.failingSince ?? toTimestamp(nowMs);
  const isGivenUp =
    (kind === 'refused' && (outcome.isFinal === true || failures >= refusalsToGiveUp)) ||
    nowMs - Date.parse(failingSince) >= patienceMs;
  if (isGivenUp) return { state: { ...withoutFailures(state), error: reason }, isGivenUp };
  const nextMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)) * (0.75 + random / 2);
  return {
    state: { ...state, failures, failingSince, retriesAt: toTimestamp(nowMs + nextMs), error: reason },
    isGivenUp,
  };
}

export function withoutFailures({ place, sentAt, lost }: DeliveryState): DeliveryState {
  return { place, failures: 0, ...(sentAt !== undefined && { sentAt }), lost };
}

/** Time until the next attempt; 0: it is due. A clock that was set back delays it by the longest wait alone. */
export function waitMs({ retriesAt }: DeliveryState, nowMs: number): number {
  if (retriesAt === undefined) return 0;
  const leftMs = Date.parse(retriesAt) - nowMs;
  return leftMs > 2 * longestWaitMs ? 0 : Math.max(0, leftMs);
}
