import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  TunnelSessionsRestart: () => ({}),
  TunnelSessionsStop: () => ({}),
  TunnelSessionsUpdate: () => ({}),
};
