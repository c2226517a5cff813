import type { FastifyInstance } from 'fastify';

import { formatIp } from '../lib/ip-address.ts';

/** One line a request. Never a header, a body or a query: any of them may hold a secret. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0],
        principal: request.caller?.principal.id,
        account: request.caller?.accountId,
        source: request.caller === undefined ? request.socket.remoteAddress : formatIp(request.caller.source),
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request',
    );
    done();
  });
}
