import { defineError } from '../../errors/user-error.ts';

export const invalidBasicCredential = defineError(
  20156,
  400,
  'The user name {username} is not acceptable for basic authentication: it must not be empty or hold ":". Give another.',
);

export const passwordMissing = defineError(
  20286,
  400,
  'There is no password for {username}, and none is stored that could stay. Give it in password.',
);
