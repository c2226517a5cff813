import { defineError } from '../../errors/user-error.ts';

export const tunnelGroupInUse = defineError(
  20090,
  409,
  'The backend {backend} is still used by {users}. Give these another backend first, then delete it.',
);

export const invalidLabels = defineError(
  20091,
  400,
  'The labels are not acceptable: {reason}. Give them as an object of texts, such as {example}.',
);
