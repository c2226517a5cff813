import { defineError } from '../../errors/user-error.ts';

export const invalidBasicCredential = defineError(
  20156,
  400,
  'The user name {username} is not acceptable for basic authentication: it must not be empty or contain ":". Give another.',
);

export const passwordMissing = defineError(
  20286,
  400,
  'There is no password for {username}, neither in the request nor stored. Give it in password.',
);
