import type { IncomingMessage } from 'node:http';

import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { FailureCounts } from '../../lib/failure-counts.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import { clientAddress } from '../../lib/ip/client-address.ts';
import { formatSourceKey, sourceKey } from '../../lib/ip/source-key.ts';
import { maskTokens } from '../../lib/mask-tokens.ts';

const levelsWithRequests: ReadonlySet<string> = new Set(['trace', 'debug', 'info']);
/** Requests of one source within a minute that have a line each though nobody is signed in: a probe each second has. */
const anonymousLines = 60;
/** Sources that are counted apart; all others share one count, and its lines. */
const countedSources = 200;

/**
 * Logs one line a request. Never a header, a body or a query: any of them may hold a secret. Of requests without a caller,
 * which anybody can send and which are shorter than their line, a source has so many lines a minute, then one with their number.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger, trustedProxies: CidrSet): void {
  // The hook alone costs as much as the rest of a short call, so it is left out where nothing would be logged.
  if (!levelsWithRequests.has(log.level)) return;
  const anonymous = new FailureCounts(countedSources, (sources, others) => {
    const all = others.failures > 0 ? [...sources, { source: 'other sources', ...others }] : sources;
    for (const { source, failures: requests, refused: unlogged } of all)
      if (unlogged > 0) log.info({ source, requests, unlogged }, 'requests without a caller within a minute');
  });
  app.addHook('onClose', (_app, done) => {
    anonymous.endWindow();
    done();
  });
  app.addHook('onResponse', ({ raw, id, caller }, reply, done) => {
    // Failed authentications beyond the limit are logged once a minute for each source, with their number.
    const isLogged = caller !== undefined || (reply.statusCode !== 429 && mayLog(anonymous, raw, trustedProxies));
    if (!isLogged) {
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

/** Counts a request without a caller. */
function mayLog(counts: FailureCounts, { headers, socket }: IncomingMessage, trustedProxies: CidrSet): boolean {
  const peer = parseIp(socket.remoteAddress ?? '');
  const source = peer && clientAddress(peer, headers['x-forwarded-for'], trustedProxies);
  const count = counts.add(source && formatSourceKey(sourceKey(source)));
  if (count.failures <= anonymousLines) return true;
  count.refused += 1;
  return false;
}
