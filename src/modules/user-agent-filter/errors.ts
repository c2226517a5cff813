import { defineError } from '../../errors/user-error.ts';

export const unsafePattern = defineError(
  20155,
  400,
  'The pattern {pattern} of the user agent filter is not supported: {reason}. Write it in the syntax of RE2, which has no lookaround and no references.',
);
