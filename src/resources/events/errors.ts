import { defineError } from '../../errors/user-error.ts';

export const noTarget = defineError(
  20395,
  400,
  'An event destination needs exactly one target, and "target" has {count}. Give "webhook", "email", "syslog", "otlp" or "file".',
);

export const targetNotOffered = defineError(
  20396,
  400,
  'Events are not sent to {target} from here. Send them as a "webhook" to a server of yours, or over "otlp" or "syslog" to a collector that passes them on to it.',
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

export const unusableSyslogHost = defineError(
  20415,
  400,
  'target.syslog.host is not acceptable: {host} is neither a host name nor an IP address. Give one such as logs.example.com, and the port in "port".',
);

export const noEventFolder = defineError(
  20416,
  400,
  'Events cannot be written to files here: the operator has named no folder for them (GATEHOUSE_EVENT_FILES). Choose another target.',
);

export const unusableFileName = defineError(
  20417,
  400,
  'target.file.name is not acceptable: {name}. Use letters, digits, ".", "_" and "-", begin with a letter or digit, and do not end in "." and a number, as files that are full do.',
);

export const unusableCollector = defineError(
  20418,
  400,
  'target.otlp is not acceptable: {reason}. Give a URL such as https://collector.example.com:4318, and headers with a name and a value.',
);

export const noMailServer = defineError(
  20419,
  400,
  'Events cannot be sent as e-mail here: the operator has named no mail server (GATEHOUSE_SMTP_URL and GATEHOUSE_SMTP_FROM). Choose another target.',
);

export const unusableAddress = defineError(
  20420,
  400,
  'target.email.to has {address}, which is not an e-mail address that is taken here. Give one such as ops@example.com.',
);

export const decisionsNotKept = defineError(
  20432,
  400,
  'Events of the type {type} are made of the decisions that gateways keep, and no gateway keeps any: the operator has named no folder for them (GATEHOUSE_DECISIONS). Choose other types, such as "visitors_refused.v0".',
);
