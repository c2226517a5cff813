import { defineError } from '../../errors/user-error.ts';

export const policyInUse = defineError(
  1420,
  409,
  'The IP policy {policy} is still used by {users}. Take it out of these first, then delete it.',
);

export const policyProtected = defineError(
  20067,
  403,
  'The IP policy {policy} decides who may call, because {user} uses it: only an admin may change or delete it or its rules. Use an API key whose owner is an admin, or another IP policy.',
);
