import { recordedId } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  InspectionsCreate: async (account) => ({ subject_id: (await account.make('/edges/https')).id, minutes: 5 }),
  InspectionsReplay: () => ({ request_id: recordedId }),
};
