import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = async (account) => ({
  backend_id: (await account.make('/backends/static')).id,
});
