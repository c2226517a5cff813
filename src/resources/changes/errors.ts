import { defineError } from '../../errors/user-error.ts';

export const invalidTime = defineError(
  241,
  400,
  '{value} is not a time in RFC 3339 form, such as 2026-11-14T10:11:14Z.',
);
