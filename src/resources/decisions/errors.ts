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

export const decisionNotFound = defineError(
  20421,
  404,
  'No decision {id} is kept here. Decisions are kept for {days} days and within a bound of size; {dropped} of this account were not kept since the gateway was started. {others}',
);

export const decisionsNotKept = defineError(
  20422,
  404,
  'The process that answers keeps no decisions about visitors. The operator can name a folder for them in GATEHOUSE_DECISIONS, on each process that carries traffic.',
);
