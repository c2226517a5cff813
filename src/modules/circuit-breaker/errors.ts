import { defineError } from '../../errors/user-error.ts';

export const circuitOpen = defineError(
  20153,
  503,
  'Too many of the last requests to this endpoint have failed, so it gets no requests for a while. Try again later.',
);
