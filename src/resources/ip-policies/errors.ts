import { defineError } from '../../errors/user-error.ts';

export const policyInUse = defineError(
  1420,
  409,
  'The IP policy {policy} is still used by {users}. Take it out of these first, then delete it.',
);
