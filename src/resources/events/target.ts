import { Type } from 'typebox';

import { text } from '../../api/body/text-fields.ts';
import type { EventTarget } from '../../events/event.ts';
import { secretPrefix } from '../../events/targets.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import * as errors from './errors.ts';
import type { StoredTarget } from './table.ts';

/** Targets of the hosted service that need a service of a cloud. */
const cloudTargets = ['kinesis', 'firehose', 'cloudwatch_logs', 'datadog', 'azure_logs_ingestion'] as const;
const urlLimitBytes = 2048;
const [shortestKey, longestKey] = [24, 64];

const exampleUrl = 'https://hooks.example.com/gatehouse';
const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const url = text(
  urlLimitBytes,
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
const never = Object.fromEntries(
  cloudTargets.map((name) => [
    name,
    Type.Optional(Type.Unsafe<unknown>({ description: 'Not offered. Leave it out, or null.', examples: [null] })),
  ]),
);
const whichOne = 'Where events are sent. Exactly one of the targets.';

export const targetInput = Type.Object(
  {
    webhook: Type.Optional(
      Type.Object(
        { url, secret: Type.Optional(secret) },
        { additionalProperties: false, description: 'A server of yours that takes events over HTTPS.' },
      ),
    ),
    ...never,
  },
  {
    additionalProperties: false,
    description: whichOne,
    examples: [{ webhook: { url: exampleUrl, secret: exampleSecret } }],
  },
);

export const targetView = Type.Object(
  {
    webhook: Type.Object({ url }, { description: 'The server, without the secret.' }),
    ...Object.fromEntries(cloudTargets.map((name) => [name, Type.Null({ description: 'Always null.' })])),
  },
  { additionalProperties: false, description: 'Where events are sent. Secrets are left out.' },
);

export type TargetInput = Readonly<Record<string, unknown>> & {
  readonly webhook?: { readonly url: string; readonly secret?: string };
};

/** Secrets of a target, as they are sealed. */
export interface TargetSecrets {
  readonly webhook: string;
}

export interface AcceptedTarget {
  readonly target: StoredTarget;
  /** Undefined: those that are stored stay. */
  readonly secrets: TargetSecrets | undefined;
}

export function acceptTarget(given: TargetInput, previous: StoredTarget | undefined): AcceptedTarget {
  const named = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  const cloud = named.find(([name]) => name !== 'webhook');
  if (cloud !== undefined) throw new UserError(errors.targetNotOffered, { target: cloud[0] });
  const { webhook } = given;
  if (webhook === undefined) throw new UserError(errors.noTarget, { count: 'none' });
  const fault = faultOfUrl(webhook.url);
  if (fault !== undefined) throw new UserError(errors.unusableWebhookUrl, { reason: fault });
  const target = { webhook: { url: webhook.url } };
  if (webhook.secret === undefined) {
    if (previous?.webhook.url !== webhook.url) throw new UserError(errors.webhookSecretMissing);
    return { target, secrets: undefined };
  }
  const reason = faultOfSecret(webhook.secret);
  if (reason !== undefined) throw new UserError(errors.unusableWebhookSecret, { reason });
  return { target, secrets: { webhook: webhook.secret } };
}

function faultOfUrl(given: string): string | undefined {
  const parsed = URL.parse(given);
  if (parsed === null) return `${quote(given)} is not a URL`;
  if (parsed.protocol !== 'https:') return 'it must begin with https://';
  if (parsed.username !== '' || parsed.password !== '') return 'it must have no user or password';
  return parsed.hash === '' ? undefined : 'it must have no fragment';
}

/** Never repeats the secret. */
function faultOfSecret(given: string): string | undefined {
  if (!given.startsWith(secretPrefix)) return `it does not begin with "${secretPrefix}"`;
  const base64 = given.slice(secretPrefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return 'what follows is not base64';
  const bytes = Buffer.from(base64, 'base64').length;
  return bytes >= shortestKey && bytes <= longestKey ? undefined : `its key has ${bytes} bytes`;
}

export function presentTarget({ webhook }: StoredTarget) {
  return { webhook, ...Object.fromEntries(cloudTargets.map((name) => [name, null])) };
}

export function openTarget({ webhook }: StoredTarget, secrets: TargetSecrets): EventTarget {
  return { webhook: { url: webhook.url, secret: secrets.webhook } };
}
