import { defineError } from '../../errors/user-error.ts';

export const tooManyTrafficStreams = defineError(
  20178,
  429,
  'This account has {limit} streams of live traffic open, the most that it may have in one process. Close one; the operator can raise GATEHOUSE_TRAFFIC_STREAMS.',
);
