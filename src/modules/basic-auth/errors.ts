import { defineError } from '../../errors/user-error.ts';

export const invalidBasicCredential = defineError(
  20156,
  400,
  'The user name {username} is not acceptable for basic authentication: it must not be empty or hold ":". Give another.',
);
