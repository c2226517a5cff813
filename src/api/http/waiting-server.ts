import { createServer } from 'node:http';

import { fastify, LogController } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { newOperationId } from '../../lib/ids.ts';
import { notReady } from '../errors.ts';
import { createErrorResponses } from './error-responses.ts';
import type { VendorWords } from './vendor-words.ts';

/** Connections to each address; every one ends with its answer. */
const mostConnections = 256;
const requestTimeoutMs = 5_000;

/**
 * Serves the address of the API while the API waits for its database: `/healthz` says that the process lives, everything else is
 * answered that it is not ready. Nothing of a request but its path is looked at.
 */
export async function serveWaiting(
  listen: { readonly host: string; readonly port: number },
  vendor: VendorWords,
  reason: string,
): Promise<AsyncDisposable> {
  const app = fastify({
    logger: false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newOperationId,
    forceCloseConnections: true,
    serverFactory: (handle) => {
      const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }, handle);
      server.maxConnections = mostConnections;
      return server;
    },
  });
  const errors = createErrorResponses(vendor, app.log, { callRefused() {} });
  const unready = new UserError(notReady, { reason }, { 'Retry-After': '1' });
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('Connection', 'close');
    if (request.url === '/healthz') done();
    else errors.send(request, reply, unready);
  });
  app.get('/healthz', (_request, reply) => reply.header('Cache-Control', 'no-store').send({ status: 'ok' }));
  await app.listen(listen);
  return { [Symbol.asyncDispose]: () => app.close() };
}
