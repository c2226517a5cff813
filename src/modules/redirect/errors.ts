import { defineError } from '../../errors/user-error.ts';

export const redirectNowhere = defineError(
  20331,
  400,
  'The redirect to {to} is not acceptable: {reason}. Give a path such as "/new", or a URL such as "https://www.example.com".',
);
