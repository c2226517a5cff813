import type { Socket } from 'node:net';

import { fastify, LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';

import { newOperationId } from '../lib/ids.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { CidrSet } from '../lib/ip/cidr-set.ts';
import type { AccessTable } from '../snapshot/access.ts';
import type { ServerConnections } from '../lib/server-connections.ts';
import { bodyLimitBytes, parseBody } from './body.ts';
import type { Authenticator, Sessions } from './caller.ts';
import { CallAdmission } from './call-admission.ts';
import type { ApiObserver } from './call-admission.ts';
import { registerSessionRoutes } from './dashboard/session-routes.ts';
import type { SessionObserver } from './dashboard/session-routes.ts';
import { registerStaticRoutes } from './dashboard/static-routes.ts';
import { createErrorResponses } from './error-responses.ts';
import { EventStreams } from './event-streams.ts';
import type { FailedAuthentications } from './failed-authentications.ts';
import { HttpServers } from './http-servers.ts';
import { collectRoutes, everyMethod, notFound, refuseUnknown } from './not-found.ts';
import type { Operation } from './operation.ts';
import { registerPublicRoutes } from './public-routes.ts';
import { RateLimit } from './rate-limit.ts';
import { registerReferenceRoutes } from './reference/reference-routes.ts';
import { registerOperation } from './register-operation.ts';
import type { OperationContext } from './register-operation.ts';
import { logRequests } from './request-log.ts';
import { measureRequests } from './request-metrics.ts';
import type { RequestObserver } from './request-metrics.ts';
import { maxBytesKeyword, wellFormedKeyword } from './validation.ts';
import type { VendorWords } from './vendor-words.ts';

export interface ApiOptions {
  readonly operations: readonly Operation[];
  /** Schemas that others refer to by their `$id`. */
  readonly schemas: readonly TSchema[];
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly access: AccessTable;
  readonly warned: (restrictionIds: readonly string[], source: IpAddress) => void;
  /** Why the service is not ready; undefined when it is. */
  readonly unready: () => string | undefined;
  /** Number of entries of the configuration that this process cannot load. */
  readonly faultyEntries: () => number;
  /** Ports of TCP edges that this process cannot open. */
  readonly unopenedPorts: () => readonly number[];
  /** The disk of the database is full: writes are refused, reading goes on. */
  readonly isFull: () => boolean;
  /** PEM of the authority behind edges without a certificate of their own; undefined until there is one. */
  readonly localCaCertificate: () => Promise<string | undefined>;
  readonly publicUrl: string | undefined;
  /** Folder of the built dashboard; it may be missing. */
  readonly dashboardFolder: string;
  /** Of this program. */
  readonly programVersion: string;
  readonly vendor: VendorWords;
  readonly trustedProxies: CidrSet;
  /** True for a connection that the gateway of this process has made: it must be reset. */
  readonly isOurs: (socket: Socket) => boolean | Promise<boolean>;
  readonly failures: FailedAuthentications;
  /** Calls a minute for each account. */
  readonly rateLimit: number | undefined;
  /** Calls of one account that are in progress at once. */
  readonly accountCalls: number;
  /** Entries that the filter of a list may look at. */
  readonly filterRows: number;
  /** A call that would have to wait longer than this for its turn is refused. */
  readonly maxWaitMs: number;
  /** The gateway in this process has clients: their traffic goes first. */
  readonly isBesideTraffic: () => boolean;
  /** A connection is closed on which no byte moves for so long in the middle of a call. */
  readonly stallSeconds: number;
  readonly observer: ApiObserver & SessionObserver;
  /** Undefined where metrics are off: the hook costs as much as the rest of a short call. */
  readonly measured: RequestObserver | undefined;
  readonly connections: ServerConnections;
  readonly logger: FastifyBaseLogger;
}

/** The management API over HTTP, without product rules: these are in the operations. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const errors = createErrorResponses(options.vendor, options.logger, options.observer);
  const { observer, rateLimit } = options;
  const limited = () => observer.callRefused('rate_limited');
  const rates = rateLimit === undefined ? undefined : new RateLimit(rateLimit, limited);
  const admission = new CallAdmission(options);
  const streams = new EventStreams();
  const shared = { options, named: byId(options.schemas), rates, admission, streams };
  const servers = new HttpServers({ ...options, answer: errors.answerSocket });
  const app: FastifyInstance = fastify({
    // A logger for each request costs more than the line that most of them log: `logRequests` writes it.
    logger: false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newOperationId,
    bodyLimit: bodyLimitBytes,
    // The query is read by `readQuery`, once the caller is known.
    routerOptions: { maxParamLength: 500, querystringParser: (text) => ({ text }) },
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        verbose: true,
        // A fault of an entry that has one of several forms is then that of its own form.
        discriminator: true,
      },
      plugins: [(ajv) => ajv.addKeyword({ ...maxBytesKeyword }).addKeyword({ ...wellFormedKeyword })],
    },
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
    errors.send(request, reply, error);
    request.queued?.release();
  });
  app.decorateRequest('caller', undefined);
  app.decorateRequest('identity', undefined);
  app.decorateRequest('listQuery', undefined);
  for (const method of everyMethod) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const methodsByPath = collectRoutes(app);
  logRequests(app, options.logger);
  if (options.measured !== undefined) measureRequests(app, options.measured);
  acceptBodies(app, rates);
  for (const schema of options.schemas) app.addSchema(schema);
  await app.register((scope) => registerPublicRoutes(scope, options));
  await app.register((scope) => registerStaticRoutes(scope, options));
  await app.register((scope) => registerReferenceRoutes(scope, options));
  await app.register((scope) => registerSessionRoutes(scope, shared));
  await app.register((scope) => registerApiScope(scope, shared));
  const otherMethods = new Map(methodsByPath);
  await app.register((scope) => refuseUnknown(scope, otherMethods, options.vendor));
  return app;
}

async function registerApiScope(scope: FastifyInstance, host: OperationContext): Promise<void> {
  for (const operation of host.options.operations) registerOperation(scope, operation, host);
}

function byId(schemas: readonly TSchema[]): ReadonlyMap<string, TSchema> {
  return new Map(schemas.flatMap((schema) => ('$id' in schema ? [[String(schema.$id), schema]] : [])));
}

function acceptBodies(app: FastifyInstance, rates: RateLimit | undefined): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      const { headers, routeOptions, caller } = request;
      const body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
      if (caller !== undefined) rates?.charge(caller.accountId, body.length);
      const parse = routeOptions.config.parseBody ?? parseBody;
      done(null, parse(headers['content-type'], headers['content-encoding'], body));
    } catch (error) {
      // `done` wants an Error, which is all that `parseBody` throws.
      done(error as Error);
    }
  });
}
