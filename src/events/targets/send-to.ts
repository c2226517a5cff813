import type { EventTarget, OutgoingEvent, Outcome } from '../event.ts';

export type TargetOf<Kind extends EventTarget['kind']> = Extract<EventTarget, { kind: Kind }>;

/** Events that go out together, in order. */
export type Batch = readonly [OutgoingEvent, ...OutgoingEvent[]];

/** One attempt at a target of this kind. It rejects with whatever went wrong, and is over once the signal is. */
export type SendTo<Kind extends EventTarget['kind']> = (attempt: {
  readonly accountId: string;
  readonly target: TargetOf<Kind>;
  readonly events: Batch;
  readonly signal: AbortSignal;
}) => Promise<Outcome>;

/** Answers that speak of the event and not of the receiver: it would be refused again. */
const refusing: ReadonlySet<number> = new Set([400, 413, 415, 422]);

export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const reason = `it answered with the status ${status}`;
  return { kind: refusing.has(status) ? 'refused' : 'failed', reason };
}
