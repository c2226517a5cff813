import { defineError } from '../../errors/user-error.ts';

export const invalidModuleCidr = defineError(
  20154,
  400,
  'The IP restriction of the endpoint holds {cidr}, which is not a CIDR: it {reason}. Give one such as 203.0.113.0/24.',
);
