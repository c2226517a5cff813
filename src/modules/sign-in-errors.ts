import { defineError } from '../errors/user-error.ts';

export const networkWithoutPolicy = defineError(
  20312,
  400,
  'With the network {network} the module needs an IP policy that says which network is trusted. Give ids in ip_policy_ids.',
);

export const policyWithoutNetwork = defineError(
  20313,
  400,
  'The IP policies in ip_policy_ids would do nothing: the network is any. Set network to or_login or and_login, or leave them out.',
);

export const invalidCookiePrefix = defineError(
  20314,
  400,
  'The cookie_prefix {prefix} cannot begin the name of a cookie. Give letters, digits, ".", "-" and "_".',
);

export const invalidClaimName = defineError(
  20315,
  400,
  'The claim {name} is not acceptable: there may be 20 claims, each with a name of 1 to 255 bytes. Give others in claims.',
);

export const invalidEmail = defineError(
  20316,
  400,
  '{email} is not an e-mail address. Give one such as ada@example.com.',
);

export const invalidEmailDomain = defineError(
  20317,
  400,
  '{domain} is not a domain of e-mail addresses. Give what follows the "@", such as example.com.',
);

export const clientSecretMissing = defineError(
  20318,
  400,
  'There is no client secret for this provider and client, neither in the request nor stored. Give it in client_secret.',
);
