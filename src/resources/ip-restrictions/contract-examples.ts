import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  IpRestrictionsCreate: async (account) => ({
    type: 'agent',
    enforced: true,
    ip_policy_ids: [(await account.make('/ip_policies')).id],
  }),
  IpRestrictionsUpdate: async (account) => ({
    enforced: false,
    ip_policy_ids: [(await account.make('/ip_policies')).id],
  }),
};
