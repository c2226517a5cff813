import { defineError } from '../../errors/user-error.ts';

export const invalidIssuer = defineError(
  20311,
  400,
  'The issuer {issuer} is not acceptable: {reason}. Give the URL that the provider names as its issuer, such as https://id.example.com/realms/staff.',
);
