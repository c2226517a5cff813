import { newDescription, unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  IpPolicyRulesCreate: async (account) => ({
    cidr: `10.${unique() % 256}.0.0/16`,
    action: 'allow',
    ip_policy_id: (await account.make('/ip_policies')).id,
  }),
  IpPolicyRulesUpdate: newDescription,
  IpPolicyRulesReplace: () => [`10.0.${unique() % 256}.0/24`, '!192.0.2.0/24'],
};
