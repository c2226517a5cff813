import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = async (account) => ({
  certificate_authority_ids: [(await account.make('/certificate_authorities')).id],
});
