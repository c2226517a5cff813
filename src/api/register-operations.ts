import { isDeepStrictEqual } from 'node:util';
import { Readable } from 'node:stream';

import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify';
import type { TSchema } from 'typebox';

import { ready, whenReady } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { jsonPieces } from '../lib/json-pieces.ts';
import { Pace } from '../lib/pace.ts';
import { quote, UserError } from '../errors/user-error.ts';
import { admitAgain, admitCaller } from './admission/admit-caller.ts';
import type { AdmittedCaller } from './admission/admit-caller.ts';
import { bodyLimitBytes, normalizeBody, parseBody, parseObject } from './body/body.ts';
import type { CallAdmission } from './admission/call-admission.ts';
import { hasBody, newCall } from './call.ts';
import type { Call, OtherCall } from './call.ts';
import type { Caller, Identity } from './admission/caller.ts';
import { setCommonHeaders } from './http/common-headers.ts';
import { bodyNotExpected } from './errors.ts';
import type { EventSource, EventStreams } from './http/event-streams.ts';
import { keepUnparsed, readList } from './body/list-body.ts';
import { explainValidation, mostRelevantError } from './body/validation.ts';
import { everyPath, pathOf, routePath } from './http/not-found.ts';
import type { KnownPaths } from './http/not-found.ts';
import type { PathParams } from './http/path-tree.ts';
import { refusePath } from './http/refuse-path.ts';
import type { Operation } from './operation.ts';
import { filterName, noQuery, readQuery } from './http/query.ts';
import type { Query } from './http/query.ts';
import type { RateLimit } from './admission/rate-limit.ts';
import { checkRights } from './admission/rights.ts';
import type { ApiOptions } from './options.ts';
import { baseUrl } from './http/uris.ts';
import { checkVersion } from './admission/version-header.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for calls of the API, before the caller is known. */
    operation: Operation | undefined;
    /** Set once the caller is known. */
    caller: Caller | undefined;
    /** Set with the caller. */
    identity: Identity | undefined;
    listQuery: Query | undefined;
    readOnly: Call['readOnly'] | undefined;
  }
}

const warningHeader = 'Gatehouse-Warning';

/** Shared by all operations. */
export interface OperationContext {
  readonly options: ApiOptions;
  /** Schemas by their `$id`. */
  readonly named: ReadonlyMap<string, TSchema>;
  /** Undefined where the rate of calls is not limited. */
  readonly rates: RateLimit | undefined;
  readonly admission: CallAdmission;
  readonly streams: EventStreams;
}

type OperationRoute = Pick<RouteOptions, 'onRequest' | 'preHandler' | 'handler'> & {
  readonly preValidation: preValidationHookHandler[];
};

/**
 * Registers all operations under one route, since a route for each would be half of the start. The order of checks is
 * fixed: authentication, source address, rate, version, rights, query and body, the caller once more, then the operation
 * itself. Nothing is awaited that is there already.
 */
export async function registerOperations(
  scope: FastifyInstance,
  paths: KnownPaths,
  context: OperationContext,
): Promise<void> {
  const { operations, stallSeconds } = context.options;
  for (const operation of operations) paths.addOperation(operation);
  const route = operationRoute(paths, context);
  scope.route({ ...route, method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url: everyPath });
  // The framework reads no more of a body than the limit of its route.
  for (const operation of operations.filter(isList)) {
    scope.route({
      ...route,
      method: operation.method,
      url: routePath(operation),
      bodyLimit: operation.bodyLimit ?? bodyLimitBytes,
      preValidation: [awaitOwnWork, ...route.preValidation],
      onSend: awaitClient(stallSeconds * 1000),
    });
  }
}

function operationRoute(paths: KnownPaths, context: OperationContext): OperationRoute {
  const { options } = context;
  return {
    onRequest: (request, reply, done) => {
      settle(() => enter(request, reply, paths, context), done);
    },
    preValidation: [
      (request, reply, done) => context.admission.begin(request, reply, callerOf(request), done),
      (request, _reply, done) => {
        const { body } = operationOf(request);
        if (body === undefined) settle(() => refuseBody(request), done);
        else settle(() => readBody(request, body, context), done);
      },
    ],
    preHandler: (request, _reply, done) => {
      settle(() => checkAgain(request, options), done);
    },
    handler: (request, reply) => {
      const operation = operationOf(request);
      const handled = operation.handle(toCall(request, reply, paths, context) as Call<never>);
      const result =
        operation.mayBeLarge === true ? Promise.resolve(handled).then(writeLarge(request, reply)) : handled;
      // A client that goes away does not end the work: its account has the call in progress until it is done.
      if (result instanceof Promise && operation.streams !== true) request.queued?.holdFor(result);
      return whenReady(result, (value) => {
        if (operation.streams === true) return stream(request, reply, value, context);
        const sent = send(reply, operation, value);
        // A client that reads slowly has no place while it does.
        request.queued?.release();
        return sent;
      });
    },
  };
}

/** A list is validated in slices, by `readList`. */
function isList({ bodyForm }: Operation): boolean {
  return bodyForm === 'list';
}

/** How the bytes of a body are parsed. */
export function parserOf(operation: Operation): typeof parseBody {
  if (isList(operation)) return keepUnparsed(operation);
  return operation.ignoresOtherBodies === true ? parseObject : parseBody;
}

/** A list may take longer than a client may stall: while the server works, the client need not send anything. */
const awaitOwnWork: preValidationHookHandler = ({ raw }, _reply, done) => {
  raw.socket.setTimeout(0);
  done();
};

function awaitClient(stallMs: number): onSendHookHandler {
  return ({ raw }, _reply, payload, done) => {
    raw.socket.setTimeout(stallMs);
    done(null, payload);
  };
}

/** Refuses a caller whose token, limits or rights have ended while the body was sent, or while the call waited. */
function checkAgain(request: FastifyRequest, options: ApiOptions): Awaitable<void> {
  if (!hasBody(request.headers) && request.queued?.hasWaited !== true) return ready(undefined);
  return whenReady(admitAgain(identityOf(request), request.raw, options), (caller) => {
    checkRights(operationOf(request), caller);
    request.caller = caller;
  });
}

function readBody(request: FastifyRequest, schema: TSchema, { named, options }: OperationContext): Awaitable<void> {
  const operation = operationOf(request);
  const validate = options.validators(schema);
  if (isList(operation)) {
    return readList(operation, request.body, named, validate, () => isAbandoned(request)).then((list) => {
      request.body = list;
    });
  }
  const { body, readOnly } = normalizeBody(operation, paramsOf(request), request.body, named);
  if (validate(body) !== true) throw explainValidation(mostRelevantError(validate.errors), operation);
  request.body = body;
  request.readOnly = readOnly;
  return ready(undefined);
}

/** Characters of a large answer that are encoded, and sent, at once. */
const partLength = 64 * 1024;

/** Returns a function that makes the bytes of an answer in slices, which end with the client. */
function writeLarge(request: FastifyRequest, reply: FastifyReply): (value: unknown) => Promise<Buffer | Readable> {
  return async (value) => {
    const pace = new Pace(() => isAbandoned(request));
    const parts: Buffer[] = [];
    let text = '';
    for (const piece of jsonPieces(value)) {
      text += piece;
      if (text.length > partLength) {
        parts.push(Buffer.from(text));
        text = '';
      }
      if (pace.isDue) await pace.giveWay();
    }
    const last = Buffer.from(text);
    void reply.type('application/json; charset=utf-8');
    if (parts.length === 0) return last;
    parts.push(last);
    void reply.header(
      'content-length',
      parts.reduce((sum, { length }) => sum + length, 0),
    );
    return Readable.from(parts, { objectMode: false });
  };
}

function send(reply: FastifyReply, { status }: Operation, value: unknown): FastifyReply {
  return reply.code(status).send(status === 204 ? undefined : value);
}

function stream(
  request: FastifyRequest,
  reply: FastifyReply,
  source: unknown,
  { options, streams }: OperationContext,
): FastifyReply {
  // A stream goes on for as long as somebody looks: no place is kept for it.
  request.queued?.release();
  // Only an operation that streams comes here, and its answer is one of these.
  const identity = identityOf(request);
  return streams.serve(request, reply, source as EventSource, () => admitAgain(identity, request.raw, options, false));
}

function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  paths: KnownPaths,
  context: OperationContext,
): Awaitable<void> {
  const { options, rates, admission } = context;
  const fault = setCommonHeaders(request, reply, options.vendor);
  if (fault !== undefined) throw fault;
  const found = paths.findOperation(request);
  const inTurn = (run: () => Awaitable<Identity>) => admission.authenticate(request, reply, run);
  if (found === undefined) return refusePath(request, paths, context, inTurn);
  const { operation, params } = found;
  request.operation = operation;
  request.params = params;
  const admit = ({ caller, identity, warnedBy }: AdmittedCaller) => {
    request.caller = caller;
    request.identity = identity;
    admission.arrive(request, reply, caller);
    if (rates !== undefined) void reply.headers(rates.take(caller.accountId));
    if (warnedBy.length > 0) {
      options.warned(warnedBy, caller.source);
      void reply.header(warningHeader, warnedBy.join(', '));
    }
    checkVersion(request.headers, options.vendor.versionHeaders);
    checkRights(operation, caller);
    checkForm(request, operation);
  };
  return whenReady(admitCaller(request.raw, options, inTurn), admit);
}

/** Checks the query, and the headers of the body, before the body is read. */
function checkForm(request: FastifyRequest, operation: Operation): void {
  const { text } = request.query as { readonly text: string };
  request.listQuery = text === '' ? noQuery : readQuery(text, operation.listedPrefix, namesInQuery(operation));
  const { headers } = request;
  const isSent = hasBody(headers);
  // A Content-Type without a body is ignored, even a malformed one.
  if (!isSent && headers['content-type'] !== undefined) delete headers['content-type'];
  // An empty object is looked at once it is read.
  if (operation.body === undefined && isSent && headers['content-length'] !== '2') throw bodyFault(request);
}

/** Refuses a body that is more than the empty object, which many clients send where there is nothing to say. */
function refuseBody(request: FastifyRequest): Awaitable<void> {
  const { body } = request;
  if (body !== undefined && !isDeepStrictEqual(body, {})) throw bodyFault(request);
  return ready(undefined);
}

function bodyFault(request: FastifyRequest): UserError {
  return new UserError(bodyNotExpected, { method: request.method, path: quote(pathOf(request)) });
}

function namesInQuery({ filters = [], filterFields, query = [] }: Operation): readonly string[] {
  return [...filters, ...(filterFields === undefined ? [] : [filterName]), ...query.map(({ name }) => name)];
}

function toCall(request: FastifyRequest, reply: FastifyReply, paths: KnownPaths, context: OperationContext): Call {
  const { options } = context;
  return newCall({
    caller: callerOf(request),
    operationId: request.id,
    params: paramsOf(request),
    body: request.body,
    readOnly: request.readOnly,
    query: request.listQuery ?? noQuery,
    base: baseUrl(request.raw, options),
    headers: request.headers,
    filterRows: options.filterRows,
    isAbandoned: () => isAbandoned(request),
    setHeader: (name, value) => {
      if (name !== warningHeader) {
        void reply.header(name, value);
        return;
      }
      // Several parts may have something to warn of. A comma stands between two warnings, and in none.
      const before = reply.getHeader(name);
      const warning = value.replaceAll(',', ';');
      void reply.header(name, before === undefined ? warning : `${String(before)}, ${warning}`);
    },
    perform: (other) => prepareOther(request, other, paths, context),
  });
}

/** Another operation for the same caller, as its own request would perform it; undefined for one that may not be rehearsed. */
function prepareOther(
  request: FastifyRequest,
  { method, path, body }: OtherCall,
  paths: KnownPaths,
  { named, options }: OperationContext,
): ReturnType<Call['perform']> {
  const found = paths.findOperation({ method, url: path });
  if (found?.operation.isRehearsable !== true) return undefined;
  const { operation, params } = found;
  const caller = callerOf(request);
  return async () => {
    checkRights(operation, caller);
    const mark = path.indexOf('?');
    const query = readQuery(mark < 0 ? '' : path.slice(mark + 1), operation.listedPrefix, namesInQuery(operation));
    const read = await readOther(operation, params, body, named, options, () => isAbandoned(request));
    const call = newCall({
      caller,
      operationId: request.id,
      params,
      ...read,
      query,
      base: baseUrl(request.raw, options),
      headers: { 'gatehouse-allow-lockout': 'true' },
      filterRows: options.filterRows,
      isAbandoned: () => isAbandoned(request),
      setHeader: () => {},
      perform: () => undefined,
    });
    return operation.handle(call as Call<never>);
  };
}

async function readOther(
  operation: Operation,
  params: PathParams,
  given: unknown,
  named: ReadonlyMap<string, TSchema>,
  options: ApiOptions,
  isGone: () => boolean,
): Promise<{ readonly body: unknown; readonly readOnly: Call['readOnly'] | undefined }> {
  const { body: schema, method, path } = operation;
  if (schema === undefined) {
    if (given !== undefined && !isDeepStrictEqual(given, {}))
      throw new UserError(bodyNotExpected, { method, path: quote(path) });
    return { body: undefined, readOnly: undefined };
  }
  const validate = options.validators(schema);
  if (isList(operation))
    return { body: await readList(operation, given, named, validate, isGone), readOnly: undefined };
  const { body, readOnly } = normalizeBody(operation, params, given, named);
  if (validate(body) !== true) throw explainValidation(mostRelevantError(validate.errors), operation);
  return { body, readOnly };
}

function isAbandoned({ queued }: FastifyRequest): boolean {
  return queued?.isAbandoned === true;
}

function identityOf({ identity }: FastifyRequest): Identity {
  if (identity === undefined) throw new Error('a caller was looked for again who was never admitted');
  return identity;
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new Error('an operation was reached without a caller');
  return caller;
}

function operationOf({ operation }: FastifyRequest): Operation {
  if (operation === undefined) throw new Error('a call went on without an operation');
  return operation;
}

function paramsOf(request: FastifyRequest): PathParams {
  // Set with the operation.
  return request.params as PathParams;
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
