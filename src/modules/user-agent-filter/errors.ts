import { defineError } from '../../errors/user-error.ts';

export const unsafePattern = defineError(
  20155,
  400,
  'The pattern {pattern} of the user agent filter is not supported: {reason}. Use literals, ".", classes, groups, "|", "^", "$" and repetition.',
);
