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
  'This change would lock you out: your next call from {address} would be refused by {restriction}. Allow your address first (with Terraform: depends_on = [the rules that allow it] in the restriction), or repeat the call with the header "Gatehouse-Allow-Lockout: true" if you mean it.',
);

export const unknownWindow = defineError(20176, 400, 'The window {window} is unknown. Give one of: hour, day, week.');

export const tooManyDecisions = defineError(
  20177,
  409,
  'This IP restriction has {limit} decisions on sources, the most that one may have. Delete those of sources that no longer come.',
);

export const typeChanged = defineError(
  20210,
  409,
  'The type of an IP restriction is fixed, and this one has {type}. Declare another restriction under a name of its own.',
);
