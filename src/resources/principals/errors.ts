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

export const botNameTaken = defineError(
  4112,
  409,
  'A bot named {name} exists already in this account ({id}). Choose another name.',
);
