import { refusedByPolicy } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import type { Action } from './action.ts';

/** Ends the connection without an answer; of HTTP/2, the stream. */
export const closeConnection: Action = {
  type: 'close-connection',
  phases: ['on_tcp_connect', 'on_http_request'],
  guards: true,
  build: () => ({ ends: true, run: () => ({ kind: 'close', refusal: new UserError(refusedByPolicy) }) }),
};
