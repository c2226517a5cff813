import { defineError } from '../errors/user-error.ts';

export const invalidClientCa = defineError(
  20183,
  400,
  'The certificates that visitors are to be checked by cannot be used: {reason}. Give certificates of authorities in PEM, at most {limit}.',
);
