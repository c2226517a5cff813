import { defineError } from '../../errors/user-error.ts';

export const oneProvider = defineError(
  20310,
  400,
  'The module names {count} providers, where one is needed. Give the settings of one in provider, and null or nothing for the others.',
);

export const ruleWithoutAnswer = defineError(
  20369,
  400,
  'The rule {field} cannot be checked: {provider} does not tell {what} ({able}). Leave it out.',
);

export const addressNotVerified = defineError(
  20370,
  400,
  'The rule {field} would let nobody in: {provider} does not say whether an e-mail address is verified. Give a rule that it can answer, name a tenant of your own by the module oidc, or set unverified_email to true if nobody can choose an address there.',
);
