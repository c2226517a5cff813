import { unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  HttpResponseBackendsCreate: () => ({ status_code: 503, headers: { 'retry-after': '60' }, body: 'Back soon.' }),
  HttpResponseBackendsUpdate: () => ({ body: `Back in ${unique()} minutes.` }),
};
