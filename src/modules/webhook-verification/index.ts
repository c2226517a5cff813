import { Type } from 'typebox';
import type { Static } from 'typebox';

import { quote, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule, Settings } from '../module.ts';
import type { RequestStep } from '../step.ts';
import { isKept, keptSecret, newSecret } from '../kept-secret.ts';
import type { KeptSecret } from '../kept-secret.ts';
import * as errors from './errors.ts';
import { findProvider, providers } from './providers.ts';
import type { Provider } from './providers.ts';
import { createBodyCheck, providerOf, verifyBody } from './service.ts';
import type { BodyCheck } from './service.ts';
import { createVerifier } from './verify.ts';

const provider = Type.String({
  description: 'The sender of the webhooks: one of the ids in docs/webhooks.md, in upper or lower case.',
  examples: ['github'],
  maxLength: 64,
});

const Input = moduleInput(
  'WebhookVerification',
  {
    provider,
    secret: Type.Optional(
      Type.String({
        description:
          'Secret that the provider signs with, as it shows it; for SendGrid its public key, for VMware "name::password". Never shown ' +
          'again. If it is left out, the one stored for the provider stays. Max 4096 bytes.',
        examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
        maxBytes: 4096,
        wellFormed: true,
        minLength: 1,
      }),
    ),
  },
  'Lets only requests pass that the provider has signed, and that are not older than it allows. Others are answered with ' +
    '403. Bodies are held until they are whole, up to 8 MiB, and passed on unchanged.',
);

const View = moduleView('WebhookVerification', { provider }, 'The secret is never shown.');

interface WebhookSettings extends Settings {
  /** As it was given. */
  readonly provider: string;
  /** Undefined: the one before is to stay. A text: open, as the gateway gets it. */
  readonly secret?: KeptSecret | string | undefined;
}

/** Lets only requests pass that a provider of webhooks has signed. */
export const webhookVerification: EdgeModule<Static<typeof Input>, WebhookSettings> = {
  name: 'webhook_verification',
  title: 'Webhook Verification',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  accept({ enabled = true, provider: id, secret }) {
    const found = providerOf(id);
    if (typeof found === 'string') {
      throw new UserError(errors.unknownWebhookProvider, {
        provider: quote(id),
        reason: found,
        known: [...providers.keys()].join(', '),
      });
    }
    if (secret === undefined) return { enabled, provider: id };
    checkSecret(id, found, secret);
    return { enabled, provider: id, secret: newSecret(secret) };
  },
  isSame: ({ enabled = true, provider: id, secret }, stored) =>
    enabled === stored.enabled && id === stored.provider && isKept(secret, stored.secret),
  secrets: {
    conceal: ({ enabled, provider: id }) => ({ enabled, provider: id }),
    concealInput: ({ secret, ...rest }) => ({ ...rest, ...(secret === undefined ? {} : { secret: '(secret)' }) }),
    ...keptSecret<'secret', WebhookSettings>({
      field: 'secret',
      purpose: 'webhook secret',
      isSameOwner: (one, other) => one.provider.toLowerCase() === other.provider.toLowerCase(),
      missing: (settings) => new UserError(errors.webhookSecretMissing, { provider: settings.provider }),
    }),
  },
  present: ({ enabled, provider: id }) => ({ enabled, provider: id }),
  build({ provider: id, secret }) {
    const found = findProvider(id);
    if (found === undefined || typeof secret !== 'string') throw new Error(`webhooks of ${id} cannot be verified`);
    return { steps: [bodyStep(createBodyCheck(found, secret), found.title)] };
  },
};

function checkSecret(id: string, found: Provider, secret: string): void {
  try {
    createVerifier(found, secret);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(errors.webhookSecretUnusable, { provider: id, reason });
  }
}

function bodyStep(check: BodyCheck, sender: string): RequestStep {
  return {
    phase: 'request',
    // Signatures may cover any header, and some list those that they cover.
    reads: 'all',
    asks: { by: 'the signature of the request', needs: () => `needs a signature of ${sender}` },
    run: (visit) => verifyBody(visit, check),
    // What an upgraded connection carries is not signed; nor was a request that came before it had to be.
    holds: ({ isUpgrade, body }) => (isUpgrade || body === undefined ? 0 : Infinity),
  };
}
