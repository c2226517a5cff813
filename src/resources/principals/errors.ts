import { defineError } from '../../errors/user-error.ts';

export const botNameEmpty = defineError(4109, 400, 'The name of a bot must not be empty. Give it a name.');

export const botNameTooLong = defineError(
  4110,
  400,
  'The name is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const botsNeedAdmin = defineError(
  4111,
  403,
  'Only an admin may create, change or delete bots. Use an API key whose owner is an admin.',
);

export const personTaken = defineError(
  20301,
  409,
  '{id} in this account already has the {field} {value}. Choose another one, or change that one first.',
);

export const notAnEmailAddress = defineError(
  20302,
  400,
  '{email} is not an e-mail address. Write one like ann@example.com, or leave it out.',
);

export const otherUser = defineError(
  20303,
  403,
  'Only an admin may change other users, and {user} is not the owner of this API key. Ask an admin.',
);

export const ownRole = defineError(
  20304,
  403,
  'You cannot change your own role or deactivate yourself, so that an account never loses its last admin. Ask another admin, or make somebody an admin first.',
);

export const invitationEndless = defineError(
  20305,
  403,
  'The token of this call ends at {end}, and it cannot invite anybody, because the invited person gets a key without an end. Use a key without an end.',
);

export const nobodyHere = defineError(
  20360,
  403,
  '{provider} knows you as {person}, but nothing here lets you in: no user and no invitation has your address, and none of your groups gives a role. Ask an admin to invite your address or to have you put into such a group, then sign in again.',
);

export const addressUnverified = defineError(
  20361,
  403,
  '{provider} knows you as {person}, but does not say that this address was verified, so it does not count here. Have it verified there, or ask an admin to have you put into a group that gives a role, then sign in again.',
);

export const userDeactivated = defineError(
  20362,
  403,
  '{provider} knows you as {person}, but your user is deactivated here. Ask an admin to let you back in.',
);

export const addressOfAnother = defineError(
  20363,
  403,
  '{provider} knows you as {person}, but the user here with this address is somebody else at {provider}, perhaps the former owner of the address. Ask an admin to change the address of that user, then sign in again.',
);

export const accountUnclear = defineError(
  20364,
  403,
  '{provider} knows you as {person}, but the users and invitations with this address have just changed. Sign in again.',
);

export const botNameTaken = defineError(
  4112,
  409,
  'A bot named {name} exists already in this account ({id}). Choose another name.',
);
