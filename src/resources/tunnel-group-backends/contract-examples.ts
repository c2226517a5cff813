import { unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  TunnelGroupBackendsCreate: () => ({ labels: { app: 'shop' } }),
  TunnelGroupBackendsUpdate: () => ({ labels: { app: `shop-${unique()}` } }),
};
