import { newDescription, unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

const secret = 'whsec_MfKQ9r8G/KYqrTwjUPD8ILPZIo2LaLaS';

export const examples: ResourceExamples = {
  EventDestinationsCreate: () => ({
    format: 'json',
    target: { webhook: { url: `https://127.0.0.1:9/${unique()}`, secret } },
  }),
  EventDestinationsUpdate: newDescription,
  EventSubscriptionsCreate: async (account) => ({
    sources: [{ type: 'ip_policy_created.v0' }],
    destination_ids: [(await account.make('/event_destinations')).id],
  }),
  EventSubscriptionsUpdate: newDescription,
  EventSourcesCreate: () => ({ type: 'domain_created.v0' }),
  EventSourcesUpdate: () => ({}),
};
