import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({
  // The example suits routes as well as TCP and TLS edges, and does nothing beside another policy.
  enabled: false,
  inbound: [{ name: 'office', actions: [{ type: 'restrict-ips', config: { allow: ['10.0.0.0/8'] } }] }],
});
