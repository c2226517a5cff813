import { defineError } from '../../errors/user-error.ts';

export const invalidTokenIssuer = defineError(
  20327,
  400,
  '{field} {url} is not acceptable: {reason}. Give a URL that begins with https://.',
);

export const invalidTokenHeader = defineError(
  20328,
  400,
  'The header {header} is not acceptable. Give the name of a header, such as authorization.',
);
