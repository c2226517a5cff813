import { createHmac } from 'node:crypto';

import type { FetchFor } from '../../sign-in/guarded-fetch.ts';
import type { OutgoingEvent } from '../event.ts';
import type { SendTo } from './send-to.ts';
import { outcomeOfStatus } from './send-to.ts';

/** Posts an event, signed as Standard Webhooks describe it. */
export function sendToWebhook(fetchFor: FetchFor): SendTo<'webhook'> {
  return async ({ accountId, target, events: [event], signal }) => {
    const { status } = await fetchFor(accountId)(target.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'gatehouse-events',
        ...signed(target.secret, event),
      },
      body: event.body,
      signal,
      ignoresBody: true,
    });
    return outcomeOfStatus(status);
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
