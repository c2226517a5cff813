import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  IpCheck: async (account) => ({ ip: '203.0.113.7', edge_id: (await account.make('/edges/tcp')).id }),
};
