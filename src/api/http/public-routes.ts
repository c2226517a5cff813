import { hash } from 'node:crypto';

import type { FastifyInstance } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { setCommonHeaders } from './common-headers.ts';
import { notReady } from '../errors.ts';
import { matchesEtag } from './etag.ts';
import { fileSchema } from '../openapi/file-schema.ts';
import { describeApi } from '../openapi/openapi.ts';
import type { ApiOptions } from '../options.ts';

/** Routes without authentication and restriction. Anybody can call them, so each must cost next to nothing. */
export async function registerPublicRoutes(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  scope.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, options.vendor));
  });
  const openApi = () => describeApi(options.operations, options.schemas);
  serveDocument(scope, '/openapi.json', openApi);
  serveDocument(scope, '/configuration.schema.json', () => fileSchema(openApi()));
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
    // A port that one edge lacks is no reason to take the whole process out of service.
    const unopened = options.unopenedPorts();
    return reply.send({
      status: 'ready',
      storage,
      ...(options.isStalled() ? { writes: 'stalled' } : {}),
      faulty_entries: options.faultyEntries(),
      ...(unopened.length === 0 ? {} : { unopened_ports: unopened }),
    });
  });
}

/** The document is made when it is first asked for: most starts never are, and it took a tenth of them. */
function serveDocument(scope: FastifyInstance, path: string, make: () => object): void {
  let made: { readonly document: Buffer; readonly etag: string } | undefined;
  scope.get(path, ({ headers }, reply) => {
    made ??= withEtag(Buffer.from(JSON.stringify(make())));
    void reply.header('ETag', made.etag);
    if (matchesEtag(headers['if-none-match'], made.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(made.document);
  });
}

function withEtag(document: Buffer): { readonly document: Buffer; readonly etag: string } {
  return { document, etag: `"${hash('sha256', document, 'base64url').slice(0, 22)}"` };
}
