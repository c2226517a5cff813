import { newDescription } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  CredentialsCreate: async (account) => ({
    owner_id: (await account.make('/bot_users')).id,
    acl: ['bind:*.example.com'],
  }),
  CredentialsUpdate: newDescription,
};
