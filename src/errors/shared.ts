import { defineError } from './user-error.ts';

export const internalError = defineError(
  20000,
  500,
  'Something went wrong on our side. The operation id names it in the log of the server.',
);

export const malformedRequest = defineError(20024, 400, 'The request could not be understood as HTTP: {reason}.');

export const headersTooLarge = defineError(
  20025,
  431,
  'The request headers are too large. Send fewer or shorter headers.',
);

export const requestTimeout = defineError(20026, 408, 'The request was not complete in time. Send it again.');

export const notAnIpPolicyId = defineError(
  229,
  400,
  '{field} holds {id}, which is not the id of an IP policy: it must start with "ipp_".',
);

export const duplicateEntry = defineError(20009, 400, '{field} names {id} more than once. Name each once.');

export const refusedByModule = defineError(
  3203,
  403,
  'Your address {address} is not allowed here (IP restriction of this edge or route).',
);

export const refusedByRestriction = defineError(
  3205,
  403,
  'Your address {address} is not allowed here (IP restriction of this account).',
);
