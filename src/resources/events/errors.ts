import { defineError } from '../../errors/user-error.ts';

export const noTarget = defineError(
  20395,
  400,
  'An event destination needs exactly one target, and "target" has {count}. Give "webhook".',
);

export const targetNotOffered = defineError(
  20396,
  400,
  'Events are not sent to {target} from here. Send them as a "webhook" to a server of yours, or to a collector that passes them on to it.',
);

export const unknownFormat = defineError(20397, 400, 'The format {format} is not known: events are sent as "json".');

export const unusableWebhookUrl = defineError(
  20398,
  400,
  'target.webhook.url is not acceptable: {reason}. Give a URL such as https://hooks.example.com/gatehouse.',
);

export const unusableWebhookSecret = defineError(
  20399,
  400,
  'target.webhook.secret is not acceptable: {reason}. Give "whsec_" and 24 to 64 random bytes in base64, as "echo whsec_$(openssl rand -base64 32)" prints.',
);

export const webhookSecretMissing = defineError(
  20400,
  400,
  'target.webhook.secret is missing. It signs what is sent, and is kept only while the URL stays as it is. Give the one that the receiver has.',
);

export const unknownEventType = defineError(
  20401,
  400,
  'Events of the type {type} are not sent here{remedy}. The description of "type" in the API reference lists those that are.',
);

export const notADestinationId = defineError(
  20402,
  400,
  'destination_ids has {id}, which is not the id of an event destination: such ids begin with "ed_".',
);

export const destinationNotFound = defineError(
  20403,
  400,
  'destination_ids names {id}, which is not an event destination of this account. Create it first (POST /event_destinations).',
);

export const destinationInUse = defineError(
  20404,
  409,
  'The event destination {destination} is used by {users}. Remove it there first.',
);
