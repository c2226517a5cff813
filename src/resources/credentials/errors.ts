import { defineError } from '../../errors/user-error.ts';

export const credentialOtherOwner = defineError(
  20081,
  403,
  'Only an admin may create a credential for another owner ({owner}). Leave owner_id out to own it yourself, or ask an admin.',
);

export const credentialUnknownOwner = defineError(
  20082,
  400,
  'owner_id {owner} is not a user or bot of this account. Give the id of an existing one, or leave owner_id out.',
);

export const credentialInactiveOwner = defineError(
  20083,
  400,
  'The owner {owner} is inactive. Activate it first, or choose another owner.',
);

export const notCredentialOwner = defineError(
  20084,
  403,
  'The credential {credential} belongs to {owner}. Only its owner or an admin may update or delete it.',
);

export const invalidAclRule = defineError(
  20085,
  400,
  'The acl rule {rule} is not acceptable: {reason}. Examples: "bind:app.example.com", "bind:*.example.com", "bind:tcp.example.com:10022", "bind:app=shop", "bind:*".',
);

export const tooManyAclRules = defineError(
  20086,
  400,
  'The acl has {count} rules, where {limit} are allowed. A wildcard such as "bind:*.example.com" covers many names.',
);

export const credentialEndless = defineError(
  20283,
  403,
  'The token of this call ends at {end}, and it cannot make a credential, which would last longer. Use a key without an end.',
);
