import { unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  StaticBackendsCreate: () => ({ address: 'app.internal:8080' }),
  StaticBackendsUpdate: () => ({ address: `app-${unique()}.internal:8080` }),
};
