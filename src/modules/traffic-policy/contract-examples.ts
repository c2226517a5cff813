import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({
  // The example suits routes as well as TCP and TLS edges.
  value: '{"on_tcp_connect": []}',
});
