import { defineError } from '../../errors/user-error.ts';

export const oneProvider = defineError(
  20310,
  400,
  'The module names {count} providers, where one is needed. Give the settings of one in provider, and null or nothing for the others.',
);
