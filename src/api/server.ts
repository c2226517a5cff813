import { fastify, LogController } from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';

import { newOperationId } from '../lib/ids.ts';
import { AbandonedError } from '../lib/pace.ts';
import { bodyLimitBytes, parseBody } from './body/body.ts';
import { AnonymousCalls } from './admission/anonymous-calls.ts';
import { readBody } from './body/read-body.ts';
import { CallAdmission } from './admission/call-admission.ts';
import { registerSessionRoutes } from './dashboard/session-routes.ts';
import { registerStaticRoutes } from './dashboard/static-routes.ts';
import { createErrorResponses } from './http/error-responses.ts';
import { EventStreams } from './http/event-streams.ts';
import { HttpServers } from './http/http-servers.ts';
import { KnownPaths, notFound, refuseUnknown } from './http/not-found.ts';
import { maxParamLength } from './http/path-tree.ts';
import type { ApiOptions } from './options.ts';
import { registerInvitationRoute } from './dashboard/invitation-route.ts';
import { registerPublicRoutes } from './http/public-routes.ts';
import { RateLimit } from './admission/rate-limit.ts';
import { registerReferenceRoutes } from './reference/reference-routes.ts';
import { parserOf, registerOperations } from './register-operations.ts';
import { logRequests } from './http/request-log.ts';
import { measureRequests } from './http/request-metrics.ts';

/** The management API over HTTP, without product rules: these are in the operations. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const errors = createErrorResponses(options.vendor, options.logger, options.observer);
  const { observer, rateLimit } = options;
  const limited = () => observer.callRefused('rate_limited');
  const rates = rateLimit === undefined ? undefined : new RateLimit(rateLimit, limited);
  const anonymous = new AnonymousCalls(options.trustedProxies);
  const servers = new HttpServers({ ...options, answer: errors.answerSocket, anonymous });
  const admission = new CallAdmission({
    ...options,
    signedIn: (request) => anonymous.signedIn(request),
    rest: (socket, restMs) => servers.rest(socket, restMs),
  });
  const streams = new EventStreams();
  const shared = { options, named: byId(options.schemas), rates, admission, streams };
  const app: FastifyInstance = fastify({
    // A logger for each request costs more than the line that most of them log: `logRequests` writes it.
    logger: false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newOperationId,
    bodyLimit: bodyLimitBytes,
    // The query is read by `readQuery`, once the caller is known.
    routerOptions: { maxParamLength, querystringParser: (text) => ({ text }) },
    frameworkErrors: (_error, request, reply) => errors.send(request, reply, notFound(request)),
    serverFactory: (handle) => servers.create(handle),
    // The servers have one of their own.
    clientErrorHandler: () => {},
  });
  app.addHook('preClose', (done) => {
    servers.closeInTime();
    done();
  });
  admission.attach(app);
  streams.attach(app);
  app.setErrorHandler((error, request, reply) => {
    // Nobody is there any more to be answered.
    if (error instanceof AbandonedError) void reply.hijack();
    else errors.send(request, reply, error);
    request.queued?.release();
  });
  app.decorateRequest('caller', undefined);
  app.decorateRequest('identity', undefined);
  app.decorateRequest('listQuery', undefined);
  app.decorateRequest('operation', undefined);
  const paths = new KnownPaths(app);
  if (!options.isQuiet) logRequests(app, options.logger, options.trustedProxies);
  if (options.measured !== undefined) measureRequests(app, options.measured);
  acceptBodies(app, rates);
  await app.register((scope) => registerPublicRoutes(scope, options));
  await app.register((scope) => registerStaticRoutes(scope, options));
  await app.register((scope) => registerReferenceRoutes(scope, options));
  await app.register((scope) => registerSessionRoutes(scope, shared));
  await app.register((scope) => registerInvitationRoute(scope, shared));
  await app.register((scope) => registerOperations(scope, paths, shared));
  await app.register((scope) => refuseUnknown(scope, paths, options.vendor));
  return app;
}

function byId(schemas: readonly TSchema[]): ReadonlyMap<string, TSchema> {
  return new Map(schemas.flatMap((schema) => ('$id' in schema ? [[String(schema.$id), schema]] : [])));
}

function acceptBodies(app: FastifyInstance, rates: RateLimit | undefined): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, _payload, done) => {
    readBody(request, (fault, body) => {
      if (fault !== undefined || body === undefined) {
        done(fault ?? null);
        return;
      }
      try {
        const { headers, operation, caller } = request;
        if (caller !== undefined) rates?.charge(caller.accountId, body.length);
        const parse = operation === undefined ? parseBody : parserOf(operation);
        done(null, parse(headers['content-type'], headers['content-encoding'], body));
      } catch (error) {
        // `done` wants an Error, which is all that `parseBody` throws.
        done(error as Error);
      }
    });
  });
}
