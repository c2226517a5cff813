import { newDescription } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  ReservedAddrsCreate: newDescription,
  ReservedAddrsUpdate: newDescription,
};
