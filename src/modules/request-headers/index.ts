import { headerModule } from '../header-changes.ts';
import { requestEffect } from '../step.ts';

export const requestHeaders = headerModule(
  'request_headers',
  'Request Headers',
  'the HTTP request before it is sent to the upstream application server',
  (rewrite, changes) => ({
    steps: [requestEffect('forward', (visit) => void (visit.outgoing = rewrite(visit.outgoing)), { changes })],
  }),
);
