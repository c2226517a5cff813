import { defineError } from '../../errors/user-error.ts';

export const restrictionPolicyNotFound = defineError(
  1801,
  400,
  'There is no IP policy {id} in this account. Give the ids of existing ones.',
);

export const unknownRestrictionType = defineError(
  1803,
  400,
  'The type {type} is unknown. Give one of: dashboard, api, agent, endpoints.',
);

export const restrictionWithoutPolicy = defineError(
  1804,
  400,
  'An IP restriction needs at least one IP policy. Give their ids in ip_policy_ids.',
);

export const wouldLockOut = defineError(
  20005,
  409,
  'This change would lock you out: your next call from {address} would be refused by {restriction}. Allow your address first, or repeat the call with the header "Gatehouse-Allow-Lockout: true" if you mean it.',
);
