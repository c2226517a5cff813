import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  IpRestrictionsCreate: async (account) => ({
    // Of a type that refuses no caller and no agent: others are made in the same account.
    type: 'endpoints',
    enforced: true,
    ip_policy_ids: [(await account.make('/ip_policies')).id],
  }),
  IpRestrictionsUpdate: async (account) => ({
    enforced: false,
    ip_policy_ids: [(await account.make('/ip_policies')).id],
  }),
  IpRestrictionDecisionsReplace: () => ({ decision: 'refuse_on_purpose' }),
};
