import { createHmac } from 'node:crypto';

import { headerValues } from '../../lib/header-list.ts';
import type { OwnAnswer } from '../step.ts';
import type { Provider } from './providers.ts';
import { jsonValue } from './signed-text.ts';
import type { RequestHead, WholeRequest } from './signed-text.ts';

/**
 * Tokens are signed with the secret that webhooks are signed with: one that could be the signed text of a webhook must
 * not be, or anybody could have a forged one signed here. Webhooks of Twitter begin with "{" (`providers.ts`), and the
 * signed text of Zoom has a ":".
 */
const tokenForm = /^[A-Za-z0-9+/=_-]{1,256}$/;

/** Answers a question of the provider that is not signed. Undefined: it is none. */
export function answerUnsigned(
  challenge: Provider['challenge'],
  secret: string,
  { method, urls, headers }: RequestHead,
): OwnAnswer | undefined {
  if (method !== 'GET') return undefined;
  if (challenge === 'twitter') {
    const token = new URLSearchParams((urls[0] ?? '').split('?')[1] ?? '').get('crc_token');
    if (token === null || !tokenForm.test(token)) return undefined;
    return json({ response_token: `sha256=${createHmac('sha256', secret).update(token).digest('base64')}` });
  }
  if (challenge === 'worldline') {
    const [token, ...more] = headerValues(headers, 'x-gcs-webhooks-endpoint-verification');
    if (token === undefined || more.length > 0 || !tokenForm.test(token)) return undefined;
    return { status: 200, headers: ['Content-Type', 'text/plain; charset=utf-8', ...safe], body: token };
  }
  return undefined;
}

/** Answers a question that has a right signature. Undefined: it is a webhook like any other. */
export function answerSigned(
  challenge: Provider['challenge'],
  secret: string,
  request: WholeRequest,
): OwnAnswer | undefined {
  if (challenge === 'zoom' && jsonValue(request, 'event') === 'endpoint.url_validation') {
    const plainToken = jsonValue(request, 'payload.plainToken') ?? '';
    if (!tokenForm.test(plainToken)) return undefined;
    return json({ plainToken, encryptedToken: createHmac('sha256', secret).update(plainToken).digest('hex') });
  }
  if (challenge === 'xero' && isWithoutEvents(request)) return { status: 200, headers: safe, body: '' };
  return undefined;
}

/** Xero asks by a message without an event whether signatures are checked. */
function isWithoutEvents({ body }: WholeRequest): boolean {
  try {
    const message = JSON.parse(body.toString('utf8')) as { readonly events?: unknown } | null;
    return Array.isArray(message?.events) && message.events.length === 0;
  } catch {
    return false;
  }
}

const safe = ['X-Content-Type-Options', 'nosniff', 'Cache-Control', 'no-store'];

function json(value: object): OwnAnswer {
  return { status: 200, headers: ['Content-Type', 'application/json', ...safe], body: JSON.stringify(value) };
}
