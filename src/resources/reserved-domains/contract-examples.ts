import { newDescription, unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  ReservedDomainsCreate: async (account) => ({
    // A subdomain of the example certificate's name.
    domain: `reserved-${unique()}.contract.test`,
    certificate_id: (await account.make('/tls_certificates')).id,
  }),
  ReservedDomainsUpdate: newDescription,
};
