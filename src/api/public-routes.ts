import { hash } from 'node:crypto';

import type { FastifyInstance } from 'fastify';

import { UserError } from '../errors/user-error.ts';
import { setCommonHeaders } from './common-headers.ts';
import { notReady } from './errors.ts';
import { describeApi } from './openapi.ts';
import type { ApiOptions } from './server.ts';

/** Routes without authentication and restriction. Anybody can call them, so each must cost next to nothing. */
export async function registerPublicRoutes(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  scope.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, options.vendor));
  });
  serveDocument(scope, Buffer.from(JSON.stringify(describeApi(options.operations, options.schemas))));
  scope.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
  scope.get('/local_ca.pem', async (_request, reply) => {
    const pem = await options.localCaCertificate();
    if (pem === undefined)
      throw new UserError(notReady, { reason: 'the gateway has not made its certificate authority yet' });
    return reply.type('application/x-pem-file').send(pem);
  });
  scope.get('/readyz', (_request, reply) => {
    const reason = options.unready();
    if (reason !== undefined) throw new UserError(notReady, { reason }, { 'Retry-After': '1' });
    const storage = options.isFull() ? 'full' : 'ok';
    return reply.send({ status: 'ready', storage, faulty_entries: options.faultyEntries() });
  });
}

function serveDocument(scope: FastifyInstance, document: Buffer): void {
  const etag = `"${hash('sha256', document, 'base64url').slice(0, 22)}"`;
  scope.get('/openapi.json', ({ headers }, reply) => {
    void reply.header('ETag', etag);
    if (matches(headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(document);
  });
}

/** True if a list of tags in If-None-Match names this one; it compares weakly, as RFC 9110 says for that header. */
function matches(list: string | undefined, etag: string): boolean {
  if (list === undefined) return false;
  return list.split(',').some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*');
}
