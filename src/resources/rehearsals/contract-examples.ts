import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  RehearsalsCreate: () => ({ method: 'POST', path: '/ip_policies', body: {} }),
};
