import { defineError } from '../errors/user-error.ts';

export const invalidClientCa = defineError(
  20183,
  400,
  'The certificates that would check visitors cannot be used: {reason}. Give certificates of authorities in PEM, at most {limit}.',
);
