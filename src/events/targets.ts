import { createHmac } from 'node:crypto';

import type { FetchFor } from '../sign-in/guarded-fetch.ts';
import type { EventTarget, OutgoingEvent, Outcome } from './event.ts';

/** An attempt is over after this time, whatever the receiver does. */
export const attemptMs = 10_000;
const longestReason = 200;
/** Answers that speak of the event and not of the receiver: it would be refused again. */
const refusing: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Sends an event. Rejects only when the signal ends the attempt. */
export type Send = (
  accountId: string,
  target: EventTarget,
  event: OutgoingEvent,
  signal: AbortSignal,
) => Promise<Outcome>;

/** `fetchFor` decides where connections may lead. */
export function createSend(fetchFor: FetchFor): Send {
  return async (accountId, { webhook }, event, signal) => {
    const limit = AbortSignal.timeout(attemptMs);
    try {
      const { status } = await fetchFor(accountId)(webhook.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'gatehouse-events',
          ...signed(webhook.secret, event),
        },
        body: event.body,
        signal: AbortSignal.any([signal, limit]),
        ignoresBody: true,
      });
      if (status >= 200 && status < 300) return { kind: 'sent' };
      const reason = `it answered with the status ${status}`;
      return { kind: refusing.has(status) ? 'refused' : 'failed', reason };
    } catch (error) {
      if (signal.aborted) throw error;
      return { kind: 'failed', reason: limit.aborted ? 'it did not answer in 10 seconds' : reasonOf(error) };
    }
  };
}

/** Headers of Standard Webhooks. The time is that of the attempt, so that receivers can refuse old ones. */
function signed(
  secret: string,
  { id, body }: Pick<OutgoingEvent, 'id' | 'body'>,
  nowMs = Date.now(),
): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

/** Every key begins so. */
export const secretPrefix = 'whsec_';

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, longestReason);
}
