import { headerModule } from '../header-changes.ts';

export const requestHeaders = headerModule(
  'request_headers',
  'Request Headers',
  'the HTTP request before it is sent to the upstream application server',
  (rewrite, removed) => ({ rewriteRequest: rewrite, removedFromRequest: removed }),
);
