import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { formatIp } from '../../lib/ip/address.ts';
import { maskTokens } from '../../lib/mask-tokens.ts';

const levelsWithRequests: ReadonlySet<string> = new Set(['trace', 'debug', 'info']);

/** Logs one line a request. Never a header, a body or a query: any of them may hold a secret. */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  // The hook alone costs as much as the rest of a short call, so it is left out where nothing would be logged.
  if (!levelsWithRequests.has(log.level)) return;
  app.addHook('onResponse', ({ raw, id, caller }, reply, done) => {
    // Failed authentications beyond the limit are logged once a minute for each source, with their number.
    if (caller === undefined && reply.statusCode === 429) {
      done();
      return;
    }
    log.info(
      {
        operation_id: id,
        method: raw.method,
        path: maskTokens(raw.url?.split('?', 1)[0] ?? ''),
        principal: caller?.principal.id,
        account: caller?.accountId,
        source: caller === undefined ? raw.socket.remoteAddress : formatIp(caller.source),
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request',
    );
    done();
  });
}
