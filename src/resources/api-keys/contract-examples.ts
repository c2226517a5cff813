import { newDescription } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  ApiKeysCreate: async (account) => ({ owner_id: (await account.make('/bot_users')).id }),
  ApiKeysUpdate: newDescription,
  ApiKeysRotate: () => ({ overlap_seconds: 60 }),
};
