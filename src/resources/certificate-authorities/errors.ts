import { defineError } from '../../errors/user-error.ts';

export const authorityInUse = defineError(
  20298,
  409,
  'The certificate authority {authority} is still used by {users}. Give these another one first, then delete it.',
);
