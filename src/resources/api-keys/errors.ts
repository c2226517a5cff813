import { defineError } from '../../errors/user-error.ts';

export const otherOwner = defineError(
  630,
  403,
  'Only an admin may create an API key for another owner ({owner}). Leave owner_id out to own the key yourself, or ask an admin.',
);

export const unknownOwner = defineError(
  634,
  400,
  'owner_id {owner} is not a user or bot of this account. Give the id of an existing one, or leave owner_id out.',
);

export const notKeyOwner = defineError(
  20006,
  403,
  'The API key {key} belongs to {owner}. Only its owner or an admin may update, rotate or delete it.',
);

export const inactiveOwner = defineError(
  20022,
  400,
  'The owner {owner} is inactive. Activate it first, or choose another owner.',
);

export const invalidExpiry = defineError(
  20068,
  400,
  'expires_at {value} {reason}. Write a time in the future, in UTC, like 2030-11-14T10:11:14Z, or leave it out.',
);

export const replacedToken = defineError(
  20277,
  403,
  'This token of the API key {key} was replaced by a rotation and may not rotate the key. Use its new token, or another key of its owner or of an admin.',
);

export const endsAfterCaller = defineError(
  20278,
  403,
  'The token of this call ends at {end}, and it cannot make, rotate or change an API key so that the key lasts longer. Give an expires_at up to then, or use a key without an end.',
);
