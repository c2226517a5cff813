import type { IncomingMessage } from 'node:http';

import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { formatIp } from '../lib/ip/address.ts';
import type { Caller } from './caller.ts';

interface Answered {
  readonly operationId: string;
  readonly caller: Caller | undefined;
  readonly status: number;
  readonly durationMs: number;
}

const levelsWithRequests: ReadonlySet<string> = new Set(['trace', 'debug', 'info']);

/** Whether the log has lines of single requests. */
export function logsRequests({ level }: FastifyBaseLogger): boolean {
  return levelsWithRequests.has(level);
}

/** One line a request. Never a header, a body or a query: any of them may hold a secret. */
export function logRequest(log: FastifyBaseLogger, { method, url, socket }: IncomingMessage, answered: Answered): void {
  const { operationId, caller, status, durationMs } = answered;
  log.info(
    {
      operation_id: operationId,
      method,
      path: url?.split('?', 1)[0],
      principal: caller?.principal.id,
      account: caller?.accountId,
      source: caller === undefined ? socket.remoteAddress : formatIp(caller.source),
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
    },
    'request',
  );
}

export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  // A hook that only finds out each time that nobody listens would cost as much as the rest of a short call.
  if (!logsRequests(log)) return;
  app.addHook('onResponse', ({ raw, id, caller }, reply, done) => {
    logRequest(log, raw, { operationId: id, caller, status: reply.statusCode, durationMs: reply.elapsedTime });
    done();
  });
}
