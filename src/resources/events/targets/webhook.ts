import { Type } from 'typebox';

import { text } from '../../../api/body/text-fields.ts';
import { UserError } from '../../../errors/user-error.ts';
import { secretPrefix } from '../../../events/targets/webhook.ts';
import * as errors from '../errors.ts';
import { faultOfUrl } from './target-kind.ts';
import type { TargetKind } from './target-kind.ts';

const [shortestKey, longestKey] = [24, 64];
const exampleUrl = 'https://hooks.example.com/gatehouse';
const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const url = text(
  2048,
  'Where events are posted, one in each request. https only. Redirects are not followed. Max 2048 bytes.',
  exampleUrl,
);
const secret = Type.String({
  description:
    'Signs what is sent, as Standard Webhooks describe it: `whsec_` and 24 to 64 random bytes in base64. It is never returned. ' +
    'An update may leave it out while the URL stays as it is.',
  maxBytes: 128,
  wellFormed: true,
  examples: [exampleSecret],
});

export const exampleWebhook = { url: exampleUrl, secret: exampleSecret };

export const webhookTarget: TargetKind<'webhook', { readonly url: string; readonly secret?: string }> = {
  input: Type.Object(
    { url, secret: Type.Optional(secret) },
    { additionalProperties: false, description: 'A server of yours that takes events over HTTPS.' },
  ),
  view: Type.Object({ url }, { description: 'The server, without the secret.' }),
  accept(given, previous) {
    const fault = faultOfUrl(given.url, ['https:']);
    if (fault !== undefined) throw new UserError(errors.unusableWebhookUrl, { reason: fault });
    const kept = { url: given.url };
    if (given.secret === undefined) {
      if (previous?.url !== given.url) throw new UserError(errors.webhookSecretMissing);
      return { kept, secret: undefined };
    }
    const reason = faultOfSecret(given.secret);
    if (reason !== undefined) throw new UserError(errors.unusableWebhookSecret, { reason });
    return { kept, secret: given.secret };
  },
  open: (kept, sealed) => ({ kind: 'webhook', url: kept.url, secret: String(sealed) }),
};

/** Never repeats the secret. */
function faultOfSecret(given: string): string | undefined {
  if (!given.startsWith(secretPrefix)) return `it does not begin with "${secretPrefix}"`;
  const base64 = given.slice(secretPrefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return 'what follows is not base64';
  const bytes = Buffer.from(base64, 'base64').length;
  return bytes >= shortestKey && bytes <= longestKey ? undefined : `its key has ${bytes} bytes`;
}
