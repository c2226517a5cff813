import { defineError } from '../../errors/user-error.ts';

export const modulePolicyNotFound = defineError(
  7007,
  400,
  'There is no IP policy {id} in this account. Give the ids of existing ones in ip_policy_ids.',
);

export const tooManyPolicies = defineError(
  7013,
  400,
  'The module names {count} IP policies, where {limit} are allowed. Put more rules into fewer policies.',
);

export const moduleWithoutPolicy = defineError(
  7025,
  400,
  'The IP restriction module needs at least one IP policy. Give their ids in ip_policy_ids.',
);
