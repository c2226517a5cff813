import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import type { TSchema } from 'typebox';

import { UserError } from '../errors/user-error.ts';
import type { Awaitable } from '../store/database.ts';
import type { Admission, Admitted } from './admission.ts';
import { normalizeBody } from './body.ts';
import type { parseBody } from './body.ts';
import type { Caller } from './caller.ts';
import type { DirectAnswers } from './direct-answers.ts';
import { bodyNotExpected, pathNotFound } from './errors.ts';
import { hasBody, newCall, readCallOptions } from './new-call.ts';
import type { Call, Operation } from './operation.ts';
import { noQuery, readQuery } from './query.ts';
import type { Query } from './query.ts';
import type { ApiOptions } from './server.ts';
import { Shown } from './shown.ts';
import { setCommonHeaders } from './start-answer.ts';
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

/** What all operations share. */
export interface OperationHost {
  readonly options: ApiOptions;
  /** Schemas by their `$id`. */
  readonly named: ReadonlyMap<string, TSchema>;
  readonly admission: Admission;
  readonly direct: DirectAnswers;
}

/**
 * Puts an operation on the wire. The checks keep their order: authentication, source address, version, rights, query
 * and body, then the operation itself. All of it answers at once where nothing has to be waited for.
 */
export function registerOperation(scope: FastifyInstance, operation: Operation, host: OperationHost): void {
  const { options, direct } = host;
  const takesBody = operation.body !== undefined;
  let isOffered = false;
  scope.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(operation.bodyLimit === undefined ? {} : { bodyLimit: operation.bodyLimit }),
    config: { operation, ...(operation.parseBody === undefined ? {} : { parseBody: operation.parseBody }) },
    schema: {
      ...(takesBody ? { body: operation.body } : {}),
      ...(operation.answer === undefined ? {} : { response: { [operation.status]: operation.answer } }),
    },
    onRequest: (request, reply, done) => {
      settle(() => enter(request, reply, operation, host), done);
    },
    ...(takesBody ? { preValidation: normalizer(operation, host.named) } : {}),
    handler: (request, reply) => {
      if (!isOffered) {
        const serialize = reply.getSerializationFunction(String(operation.status));
        // Of an answer that is an object, as the schema says; Fastify's type is that of any route.
        if (serialize !== undefined) direct.offer(operation, serialize as (value: object) => string);
        isOffered = true;
      }
      const result = operation.handle(toCall(request, reply, options) as Call<never>);
      if (result instanceof Promise) return result.then((value) => answer(reply, operation, value));
      return answer(reply, operation, result);
    },
  });
}

function normalizer(operation: Operation, named: ReadonlyMap<string, TSchema>): preValidationHookHandler {
  return (request, _reply, done) => {
    settle(() => {
      request.body = normalizeBody(operation, paramsOf(request), request.body, named);
    }, done);
  };
}

function answer(reply: FastifyReply, operation: Operation, value: unknown): FastifyReply {
  void reply.code(operation.status);
  if (operation.status === 204) return reply.send();
  return reply.send(value instanceof Shown ? value.view : value);
}

function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  { options, admission }: OperationHost,
): Awaitable<void> {
  const fault = setCommonHeaders(request, reply, options.vendor);
  if (fault !== undefined) throw fault;
  const params = paramsOf(request);
  for (const name in params) {
    // An empty id must not reach the operation of the collection, nor look like one.
    if (params[name] === '') throw new UserError(pathNotFound, { path: JSON.stringify(request.url.split('?', 1)[0]) });
  }
  const admit = ({ caller, warnedBy }: Admitted) => {
    request.caller = caller;
    if (warnedBy.length > 0) {
      options.warned(warnedBy, caller.source);
      void reply.header('Gatehouse-Warning', warnedBy.join(', '));
    }
    checkVersion(request.headers, options.vendor.versionHeaders);
    operation.permit?.(caller);
    checkForm(request, operation);
  };
  const admitted = admission.admit(request.raw);
  return admitted instanceof Promise ? admitted.then(admit) : admit(admitted);
}

/** What can be said of query and body before the body is read. */
function checkForm(request: FastifyRequest, operation: Operation): void {
  const { text } = request.query as { readonly text: string };
  request.listQuery = text === '' ? noQuery : readQuery(text, operation.listedPrefix, operation.filters);
  const { headers } = request;
  const isSent = hasBody(headers);
  // A content type without a body says nothing, not even when it is none.
  if (!isSent && headers['content-type'] !== undefined) delete headers['content-type'];
  if (operation.body === undefined && isSent) {
    throw new UserError(bodyNotExpected, {
      method: request.method,
      path: JSON.stringify(request.url.split('?', 1)[0]),
    });
  }
}

function toCall(request: FastifyRequest, reply: FastifyReply, options: ApiOptions): Call {
  const { caller } = request;
  if (caller === undefined) throw new Error('an operation was reached without a caller');
  return newCall({
    caller,
    operationId: request.id,
    params: paramsOf(request),
    body: request.body,
    query: request.listQuery ?? noQuery,
    base: baseUrl(request.raw, options),
    wishes: readCallOptions(request.headers),
    setHeader: (name, value) => void reply.header(name, value),
  });
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
