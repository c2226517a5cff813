import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import type { TSchema } from 'typebox';

import { UserError } from '../errors/user-error.ts';
import { clientAddress } from '../lib/client-address.ts';
import { formatIp, parseIp } from '../lib/ip-address.ts';
import type { IpAddress } from '../lib/ip-address.ts';
import type { Awaitable } from '../store/database.ts';
import { bearerToken } from './bearer.ts';
import { normalizeBody } from './body.ts';
import type { parseBody } from './body.ts';
import type { Caller, Identity } from './caller.ts';
import type { Call, Operation } from './operation.ts';
import { noQuery, readQuery } from './query.ts';
import type { Query } from './query.ts';
import type { ApiOptions } from './server.ts';
import { startAnswer } from './start-answer.ts';
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

/**
 * Puts an operation on the wire. The checks keep their order: authentication, source address, version, rights, query
 * and body, then the operation itself. All of it answers at once where nothing has to be waited for.
 */
export function registerOperation(
  scope: FastifyInstance,
  operation: Operation,
  options: ApiOptions,
  named: ReadonlyMap<string, TSchema>,
): void {
  const takesBody = operation.body !== undefined;
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
      settle(() => enter(request, reply, operation, options), done);
    },
    ...(takesBody ? { preValidation: normalizer(operation, named) } : {}),
    handler: (request, reply) => {
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
  return operation.status === 204 ? reply.send() : reply.send(value);
}

function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  options: ApiOptions,
): Awaitable<void> {
  const fault = startAnswer(request, reply, options.vendor);
  if (fault !== undefined) throw fault;
  const params = paramsOf(request);
  for (const name in params) {
    // An empty id must not reach the operation of the collection, nor look like one.
    if (params[name] === '') throw new UserError(20001, { path: JSON.stringify(request.url.split('?', 1)[0]) });
  }
  const identity = options.authenticator.authenticate(bearerToken(request.headers.authorization));
  const admit = (known: Identity) => {
    const { principal, keyId } = known;
    const caller = { principal, keyId, accountId: principal.accountId, source: sourceOf(request, options) };
    request.caller = caller;
    admitSource(caller, reply, options);
    checkVersion(request.headers, options.vendor.versionHeaders);
    operation.permit?.(caller);
    checkForm(request, operation);
  };
  return identity instanceof Promise ? identity.then(admit) : admit(identity);
}

function admitSource({ accountId, source }: Caller, reply: FastifyReply, options: ApiOptions): void {
  const { refusedBy, warnedBy } = options.access.admit(accountId, 'api', source);
  if (refusedBy !== undefined) throw new UserError(220, { address: formatIp(source), restriction: refusedBy });
  if (warnedBy.length === 0) return;
  options.warned(warnedBy, source);
  void reply.header('Gatehouse-Warning', warnedBy.join(', '));
}

function sourceOf(request: FastifyRequest, options: ApiOptions): IpAddress {
  const peer = parseIp(request.socket.remoteAddress ?? '');
  if (peer === undefined) throw new UserError(20024, { reason: 'the connection is closed' });
  return clientAddress(peer, request.headers['x-forwarded-for'], options.trustedProxies);
}

/** What can be said of query and body before the body is read. */
function checkForm(request: FastifyRequest, operation: Operation): void {
  const { text } = request.query as { readonly text: string };
  request.listQuery = text === '' ? noQuery : readQuery(text, operation.listedPrefix, operation.filters);
  const { headers } = request;
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  // A content type without a body says nothing, not even when it is none.
  if (!hasBody && headers['content-type'] !== undefined) delete headers['content-type'];
  if (operation.body === undefined && hasBody) {
    throw new UserError(211, { method: request.method, path: JSON.stringify(request.url.split('?', 1)[0]) });
  }
}

function toCall(request: FastifyRequest, reply: FastifyReply, options: ApiOptions): Call {
  const { caller } = request;
  if (caller === undefined) throw new Error('an operation was reached without a caller');
  const base = baseUrl(request, options);
  const { page, filters } = request.listQuery ?? noQuery;
  return {
    caller,
    actor: { id: caller.principal.id, accountId: caller.accountId, operationId: request.id },
    params: paramsOf(request),
    body: request.body,
    page,
    filters,
    uri: (path) => `${base}${path}`,
    allowLockout: request.headers['gatehouse-allow-lockout'] === 'true',
    ifMatch: request.headers['if-match'],
    idempotencyKey: singleHeader(request.headers['idempotency-key']),
    setHeader: (name, value) => void reply.header(name, value),
  };
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
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
