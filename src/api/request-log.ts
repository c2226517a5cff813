import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { formatIp } from '../lib/ip-address.ts';

const levelsWithRequests: ReadonlySet<string> = new Set(['trace', 'debug', 'info']);

/** One line a request. Never a header, a body or a query: any of them may hold a secret. */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  // A hook that only finds out each time that nobody listens would cost as much as the rest of a short call.
  if (!levelsWithRequests.has(log.level)) return;
  app.addHook('onResponse', (request, reply, done) => {
    log.info(
      {
        operation_id: request.id,
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
