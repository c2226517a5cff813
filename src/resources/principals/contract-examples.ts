import { unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  UsersUpdate: () => ({ name: `renamed user ${unique()}` }),
  InvitationsCreate: () => ({ name: `guest ${unique()}`, role: 'member' }),
  InvitationsUpdate: () => ({ name: `renamed guest ${unique()}` }),
  BotUsersCreate: () => ({ name: `bot ${unique()}` }),
  ServiceUsersCreate: () => ({ name: `service ${unique()}` }),
  ServiceUsersUpdate: () => ({ name: `renamed service ${unique()}` }),
  BotUsersUpdate: () => ({ name: `renamed bot ${unique()}` }),
};
