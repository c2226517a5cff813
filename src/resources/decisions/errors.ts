import { defineError } from '../../errors/user-error.ts';

export const decisionsUnreadable = defineError(
  20412,
  503,
  'Decisions about visitors cannot be read at the moment; traffic goes on. Try again shortly, or ask for less with since and until. The log of the server has the cause.',
);

export const tooManyReads = defineError(
  20413,
  429,
  'Decisions of this account are being read already, and {count} calls wait for their turn. Try again shortly.',
);

export const badDecisionFilter = defineError(20414, 400, '{name} {value} selects nothing: {reason}.');
