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
  'No decision {id} is kept. Gateways keep decisions for some days (GATEHOUSE_DECISIONS_DAYS) and within a bound of size; {dropped} of this account were not kept since they were started. {others}',
);

export const decisionsNotKept = defineError(
  20422,
  404,
  'No process that carries traffic keeps decisions about visitors. The operator can name a folder for them in GATEHOUSE_DECISIONS, on each of them.',
);
