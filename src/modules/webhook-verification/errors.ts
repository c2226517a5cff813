import { defineError } from '../../errors/user-error.ts';

export const unknownWebhookProvider = defineError(
  364,
  400,
  'Webhooks of {provider} cannot be verified here: {reason}. These are known: {known}. Their names may be in upper or lower case.',
);

export const webhookSecretMissing = defineError(
  20344,
  400,
  'There is no secret for webhooks of {provider}, neither in the request nor stored. Give it in secret.',
);

export const webhookSecretUnusable = defineError(
  20345,
  400,
  'The secret cannot be one of {provider}: {reason}. Copy it from where the provider shows it.',
);
