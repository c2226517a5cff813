import { Type } from 'typebox';
import type { Static } from 'typebox';

import { webhookRefused, webhookRefusedUnauthorized } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { enabledInput, enabledView } from '../module.ts';
import type { BodyCheck, EdgeModule, Settings } from '../module.ts';
import { isSameSecret, newSecret } from '../sign-in-settings.ts';
import type { KeptSecret } from '../sign-in-settings.ts';
import { answerSigned, answerUnsigned } from './challenges.ts';
import * as errors from './errors.ts';
import { findProvider, notOffered, providers } from './providers.ts';
import type { Provider } from './providers.ts';
import { createVerifier } from './verify.ts';

const provider = Type.String({
  description: 'Who sends the webhooks: one of the ids in docs/webhooks.md, in upper or lower case.',
  examples: ['github'],
  maxLength: 64,
});

const Input = Type.Object(
  {
    enabled: enabledInput,
    provider,
    secret: Type.Optional(
      Type.String({
        description:
          'Secret that the provider signs with, as it shows it; for SendGrid its public key, for VMware "name::password". Never shown ' +
          'again. Left out, the one that is stored for the provider stays. Max 4096 bytes.',
        examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
        maxBytes: 4096,
        wellFormed: true,
        minLength: 1,
      }),
    ),
  },
  {
    $id: 'WebhookVerificationModuleReplace',
    additionalProperties: false,
    description:
      'Lets only requests pass that the provider has signed, and that are not older than it allows. Others are answered with ' +
      '403. Bodies are held until they are whole, up to 8 MiB, and passed on unchanged.',
  },
);

const View = Type.Object(
  { enabled: enabledView, provider },
  { $id: 'WebhookVerificationModule', additionalProperties: false, description: 'The secret is never shown.' },
);

interface WebhookSettings extends Settings {
  /** As it was given. */
  readonly provider: string;
  /** Undefined: the one before is to stay. A text: open, as the gateway gets it. */
  readonly secret?: KeptSecret | string;
}

/** Most bytes of a webhook: providers send less than one, except for GitHub, which stops at 25 MB. */
const webhookBytes = 8 * 1024 * 1024;

/** Lets only requests pass that a provider of webhooks has signed. */
export const webhookVerification: EdgeModule<Static<typeof Input>, WebhookSettings> = {
  name: 'webhook_verification',
  title: 'Webhook Verification',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  alsoChecks: 'the signature of the request',
  accept({ enabled = true, provider: id, secret }) {
    const found = findProvider(id);
    if (found === undefined) {
      const reason = notOffered.get(id.toLowerCase()) ?? 'there is no provider of this name';
      throw new UserError(errors.unknownWebhookProvider, {
        provider: quote(id),
        reason,
        known: [...providers.keys()].join(', '),
      });
    }
    if (secret === undefined) return { enabled, provider: id };
    checkSecret(id, found, secret);
    return { enabled, provider: id, secret: newSecret(secret) };
  },
  isSame: ({ enabled = true, provider: id, secret }, stored) =>
    enabled === stored.enabled &&
    id === stored.provider &&
    (secret === undefined || (typeof stored.secret === 'object' && isSameSecret(secret, stored.secret))),
  secrets: {
    conceal: ({ enabled, provider: id }) => ({ enabled, provider: id }),
    concealInput: ({ secret, ...rest }) => ({ ...rest, ...(secret === undefined ? {} : { secret: '(secret)' }) }),
    keep(settings, previous) {
      if (settings.secret !== undefined) return settings;
      const isSame = previous?.provider.toLowerCase() === settings.provider.toLowerCase();
      if (!isSame || previous.secret === undefined)
        throw new UserError(errors.webhookSecretMissing, { provider: settings.provider });
      return { ...settings, secret: previous.secret };
    },
    seal(settings, seal) {
      const { secret } = settings;
      if (typeof secret !== 'object' || secret.given === undefined) return settings;
      const { salt, digest, given } = secret;
      return { ...settings, secret: { salt, digest, sealed: seal(given, contextOf(digest)) } };
    },
    open(settings, open) {
      const { secret } = settings;
      if (typeof secret !== 'object' || secret.sealed === undefined) return settings;
      return { ...settings, secret: open(secret.sealed, contextOf(secret.digest)) };
    },
  },
  present: ({ enabled, provider: id }) => ({ enabled, provider: id }),
  build({ provider: id, secret }) {
    const found = findProvider(id);
    if (found === undefined || typeof secret !== 'string') throw new Error(`webhooks of ${id} cannot be verified`);
    return { bodyCheck: createBodyCheck(found, secret) };
  },
};

function contextOf(digest: string): string {
  return `webhook secret ${digest}`;
}

function checkSecret(id: string, found: Provider, secret: string): void {
  try {
    createVerifier(found, secret);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(errors.webhookSecretUnusable, { provider: id, reason });
  }
}

export function createBodyCheck(found: Provider, secret: string, now: () => number = Date.now): BodyCheck {
  const verifier = createVerifier(found, secret);
  const { title, challenge } = found;
  // Xero asks by wrong signatures whether they are checked, and takes nothing else for a yes.
  const error = challenge === 'xero' ? webhookRefusedUnauthorized : webhookRefused;
  const toError = (reason: string | undefined): UserError | undefined =>
    reason === undefined ? undefined : new UserError(error, { provider: title, reason });
  return {
    maxBytes: webhookBytes,
    refusesHead: (request) =>
      answerUnsigned(challenge, secret, request) === undefined ? toError(verifier.refusesHead(request)) : undefined,
    check: (request) =>
      answerUnsigned(challenge, secret, request) ??
      toError(verifier.refuses(request, now())) ??
      answerSigned(challenge, secret, request),
  };
}
