import { newDescription, unique } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  EndpointsCreate: () => ({
    url: `https://app-${unique()}.internal`,
    traffic_policy: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}',
  }),
  EndpointsUpdate: newDescription,
};
