import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import type { TSchema } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import { whenReady } from '../store/database.ts';
import type { Awaitable } from '../store/database.ts';
import { admitAgain, admitCaller } from './admit-caller.ts';
import type { AdmittedCaller } from './admit-caller.ts';
import { normalizeBody } from './body.ts';
import type { parseBody } from './body.ts';
import type { CallAdmission } from './call-admission.ts';
import { hasBody, newCall } from './call.ts';
import type { Call } from './call.ts';
import type { Caller, Identity } from './caller.ts';
import { setCommonHeaders } from './common-headers.ts';
import { bodyNotExpected } from './errors.ts';
import { keepUnparsed, readList } from './list-body.ts';
import type { Validate } from './list-body.ts';
import { notFound, pathOf } from './not-found.ts';
import type { Operation } from './operation.ts';
import { noQuery, readQuery } from './query.ts';
import type { Query } from './query.ts';
import type { RateLimit } from './rate-limit.ts';
import { checkRights } from './rights.ts';
import type { ApiOptions } from './server.ts';
import { baseUrl } from './uris.ts';
import { checkVersion } from './version-header.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the caller is known. */
    caller: Caller | undefined;
    listQuery: Query | undefined;
  }
  interface FastifyContextConfig {
    readonly operation?: Operation;
    readonly parseBody?: typeof parseBody;
  }
}

/** Shared by all operations. */
export interface OperationContext {
  readonly options: ApiOptions;
  /** Schemas by their `$id`. */
  readonly named: ReadonlyMap<string, TSchema>;
  /** Undefined where the rate of calls is not limited. */
  readonly rates: RateLimit | undefined;
  readonly admission: CallAdmission;
}

/**
 * Registers the route of an operation. The order of checks is fixed: authentication, source address, rate, version, rights,
 * query and body, the caller once more, then the operation itself. Nothing is awaited that is there already.
 */
export function registerOperation(scope: FastifyInstance, operation: Operation, context: OperationContext): void {
  const { options } = context;
  const takesBody = operation.body !== undefined;
  // A list is validated in slices, by `readList`.
  const isList = operation.bodyForm === 'list';
  scope.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(operation.bodyLimit === undefined ? {} : { bodyLimit: operation.bodyLimit }),
    config: { operation, ...(isList ? { parseBody: keepUnparsed(operation) } : {}) },
    // No schema for the response: serializing by it is slower than `JSON.stringify`.
    schema: takesBody && !isList ? { body: operation.body } : {},
    onRequest: (request, reply, done) => {
      settle(() => enter(request, reply, operation, context), done);
    },
    preValidation: [
      (request, reply, done) => context.admission.begin(request, reply, callerOf(request), done),
      ...(takesBody ? [(isList ? listReader : normalizer)(operation, context.named)] : []),
    ],
    preHandler: (request, _reply, done) => {
      settle(() => checkAgain(request, operation, options), done);
    },
    handler: (request, reply) => {
      const result = operation.handle(toCall(request, reply, options) as Call<never>);
      // A client that goes away does not end the work: its account has the call in progress until it is done.
      if (result instanceof Promise) request.queued?.holdFor(result);
      return whenReady(result, (value) => {
        const sent = send(reply, operation, value);
        // A client that reads slowly has no place while it does.
        request.queued?.release();
        return sent;
      });
    },
  });
}

/** Refuses a caller whose token, limits or rights have ended while the body was sent, or while the call waited. */
function checkAgain(request: FastifyRequest, operation: Operation, options: ApiOptions): Awaitable<void> {
  if (!hasBody(request.headers) && request.queued?.hasWaited !== true) return undefined;
  return whenReady(admitAgain(request.raw, options), (caller) => {
    checkRights(operation, caller);
    request.caller = caller;
  });
}

function normalizer(operation: Operation, named: ReadonlyMap<string, TSchema>): preValidationHookHandler {
  return (request, _reply, done) => {
    settle(() => {
      request.body = normalizeBody(operation, paramsOf(request), request.body, named);
    }, done);
  };
}

function listReader(operation: Operation, named: ReadonlyMap<string, TSchema>): preValidationHookHandler {
  return (request, _reply, done) => {
    settle(async () => {
      const validate = request.compileValidationSchema(operation.body ?? {}, 'body');
      // Ajv, which Fastify validates by, has this form of errors in verbose mode.
      request.body = await readList(operation, request.body, named, validate as Validate);
    }, done);
  };
}

function send(reply: FastifyReply, { status }: Operation, value: unknown): FastifyReply {
  return reply.code(status).send(status === 204 ? undefined : value);
}

function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  { options, rates, admission }: OperationContext,
): Awaitable<void> {
  const fault = setCommonHeaders(request, reply, options.vendor);
  if (fault !== undefined) throw fault;
  const params = paramsOf(request);
  for (const name in params) {
    // The router lets a parameter be empty: `/api_keys/` is neither a key nor the list.
    if (params[name] === '') throw notFound(request);
  }
  const admit = ({ caller, warnedBy }: AdmittedCaller) => {
    request.caller = caller;
    admission.arrive(request, reply, caller);
    if (rates !== undefined) void reply.headers(rates.take(caller.accountId));
    if (warnedBy.length > 0) {
      options.warned(warnedBy, caller.source);
      void reply.header('Gatehouse-Warning', warnedBy.join(', '));
    }
    checkVersion(request.headers, options.vendor.versionHeaders);
    checkRights(operation, caller);
    checkForm(request, operation);
  };
  const inTurn = (run: () => Awaitable<Identity>) => admission.authenticate(request, reply, run);
  return whenReady(admitCaller(request.raw, options, inTurn), admit);
}

/** Checks the query, and the headers of the body, before the body is read. */
function checkForm(request: FastifyRequest, operation: Operation): void {
  const { text } = request.query as { readonly text: string };
  request.listQuery = text === '' ? noQuery : readQuery(text, operation.listedPrefix, operation.filters);
  const { headers } = request;
  const isSent = hasBody(headers);
  // A Content-Type without a body is ignored, even a malformed one.
  if (!isSent && headers['content-type'] !== undefined) delete headers['content-type'];
  if (operation.body === undefined && isSent) {
    throw new UserError(bodyNotExpected, {
      method: request.method,
      path: quote(pathOf(request)),
    });
  }
}

function toCall(request: FastifyRequest, reply: FastifyReply, options: ApiOptions): Call {
  return newCall({
    caller: callerOf(request),
    operationId: request.id,
    params: paramsOf(request),
    body: request.body,
    query: request.listQuery ?? noQuery,
    base: baseUrl(request.raw, options),
    headers: request.headers,
    setHeader: (name, value) => void reply.header(name, value),
  });
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new Error('an operation was reached without a caller');
  return caller;
}

function paramsOf(request: FastifyRequest): Readonly<Record<string, string>> {
  // The router makes a text of every parameter.
  return request.params as Readonly<Record<string, string>>;
}

function settle(step: () => Awaitable<void>, done: (error?: Error) => void): void {
  try {
    const result = step();
    if (result instanceof Promise) result.then(() => done(), done);
    else done();
  } catch (error) {
    // Only errors are thrown here, and `done` takes nothing else.
    done(error as Error);
  }
}
