import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = async (account) => ({
  ip_policy_ids: [(await account.make('/ip_policies')).id],
});
