import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  TrafficPolicyCheck: () => ({
    policy: '{"on_http_request": [{"expressions": ["req.method == \'PUT\'"], "actions": [{"type": "deny"}]}]}',
    request: { method: 'PUT', url: 'https://shop.example.com/cart', ip: '203.0.113.7' },
  }),
};
