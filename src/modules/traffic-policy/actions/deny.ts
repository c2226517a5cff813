import { refusedByPolicy } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import type { Action } from './action.ts';

/** Refuses the visit: without a body, or with the end of its connection. */
export const deny: Action = {
  type: 'deny',
  phases: ['on_tcp_connect', 'on_http_request'],
  guards: true,
  build(config) {
    const status = config.phase === 'on_tcp_connect' ? undefined : (config.integer('status_code', 400, 599) ?? 403);
    return {
      ends: true,
      run() {
        const refusal = new UserError(refusedByPolicy);
        if (status === undefined) return { kind: 'close', refusal };
        return { kind: 'answer', answer: { status, headers: [], body: '', refusal }, isChanged: false };
      },
    };
  },
};
