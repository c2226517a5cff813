import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FastifyBaseLogger } from 'fastify';

import { isBase62 } from '../lib/base62.ts';
import { newOperationId } from '../lib/ids.ts';
import type { Admission, Admitted } from './admission.ts';
import { isHost } from './host-header.ts';
import { newCall, noWishes } from './new-call.ts';
import type { Call, Operation } from './operation.ts';
import { readPlainHeaders } from './plain-headers.ts';
import { noQuery } from './query.ts';
import { logRequest, logsRequests } from './request-log.ts';
import type { ApiOptions } from './server.ts';
import { Shown } from './shown.ts';

type Serialize = (view: object) => string;

interface Direct {
  readonly operation: Operation;
  /** The general way's own, known once that has answered. */
  readonly serialize: Serialize;
}

/** What one answer is made of. */
interface Course {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly admitted: Admitted;
  readonly operationId: string;
  /** Undefined where nobody asks. */
  readonly startedMs: number | undefined;
  /** Name, value, name, value, … */
  readonly headers: string[];
}

/**
 * Answers the GET of a single resource without the framework, which costs more than all that such a call needs. It only
 * ever succeeds: a request that is unusual in any way, the first on its connection, or to be refused, is left to the
 * general way as it came.
 */
export class DirectAnswers {
  /** By what stands before the id in their path. */
  readonly #operations = new Map<string, Direct>();
  readonly #options: ApiOptions;
  readonly #admission: Admission;
  readonly #operationHeaders: readonly string[];
  readonly #versionKeys: readonly string[];
  readonly #log: FastifyBaseLogger | undefined;
  #isOpen: boolean;

  constructor(options: ApiOptions, admission: Admission) {
    this.#options = options;
    this.#admission = admission;
    this.#operationHeaders = options.vendor.operationHeaders.map((name) => name.toLowerCase());
    this.#versionKeys = options.vendor.versionHeaders.map(({ key }) => key);
    this.#log = logsRequests(options.logger) ? options.logger : undefined;
    // The limit counts the calls that the framework sees.
    this.#isOpen = options.rateLimit === undefined;
  }

  /** Called by the general way with its first answer to an operation. */
  offer(operation: Operation, serialize: Serialize): void {
    const prefix = prefixOf(operation);
    if (prefix !== undefined) this.#operations.set(prefix, { operation, serialize });
  }

  close(): void {
    this.#isOpen = false;
  }

  /** False: nothing was done, the request is the general way's. That may also turn out later, through `leave`. */
  take(request: IncomingMessage, response: ServerResponse, leave: () => void): boolean {
    const { method, url = '', rawHeaders, socket } = request;
    if (method !== 'GET' || !this.#isOpen) return false;
    const slash = url.lastIndexOf('/');
    const direct = this.#operations.get(url.slice(0, slash));
    if (direct === undefined || !isId(url, slash + 1)) return false;
    const said = readPlainHeaders(rawHeaders, this.#versionKeys);
    if (said === undefined || !isHost(said.host)) return false;
    const admitted = this.#admission.recall(socket, said.authorization);
    if (admitted === undefined) return false;
    try {
      const course = this.#start(request, response, admitted);
      const base = this.#options.publicUrl ?? `http://${said.host}`;
      // It takes no body.
      const view = direct.operation.handle(callFor(url.slice(slash + 1), base, course) as Call<never>);
      // The general way finds the same fault, and says it.
      if (view instanceof Promise) view.then((known) => this.#send(course, known, direct)).catch(leave);
      else this.#send(course, view, direct);
      return true;
    } catch {
      return false;
    }
  }

  #start(request: IncomingMessage, response: ServerResponse, admitted: Admitted): Course {
    const operationId = newOperationId();
    const headers: string[] = [];
    for (const name of this.#operationHeaders) headers.push(name, operationId);
    headers.push('cache-control', 'no-store');
    const { warnedBy } = admitted;
    if (warnedBy.length > 0) headers.push('gatehouse-warning', warnedBy.join(', '));
    return { request, response, admitted, operationId, startedMs: this.#log && performance.now(), headers };
  }

  #send(course: Course, view: unknown, { serialize }: Direct): void {
    const { request, response, admitted, operationId, startedMs, headers } = course;
    // The schemas of such operations' answers are those of objects.
    const text = view instanceof Shown ? view.textBy(serialize) : serialize(view as object);
    const length = String(Buffer.byteLength(text));
    headers.push('content-type', 'application/json; charset=utf-8', 'content-length', length);
    response.writeHead(200, headers).end(text);
    const { caller, warnedBy } = admitted;
    if (warnedBy.length > 0) this.#options.warned(warnedBy, caller.source);
    if (this.#log === undefined || startedMs === undefined) return;
    logRequest(this.#log, request, { operationId, caller, status: 200, durationMs: performance.now() - startedMs });
  }
}

function callFor(id: string, base: string, { admitted: { caller }, operationId, headers }: Course): Call {
  return newCall({
    caller,
    operationId,
    params: { id },
    body: undefined,
    query: noQuery,
    base,
    wishes: noWishes,
    setHeader: (name, value) => void headers.push(name.toLowerCase(), value),
  });
}

/** Undefined where the operation is not the GET of one resource by its id alone, open to every caller. */
function prefixOf({ method, path, permit, status }: Operation): string | undefined {
  if (method !== 'GET' || permit !== undefined || status !== 200) return undefined;
  return /^([^{}]+)\/\{id\}$/.exec(path)?.[1];
}

/** Nothing but an id: no query, no escape, no further path. */
function isId(url: string, start: number): boolean {
  const mark = url.indexOf('_', start);
  return mark > start && isBase62(url, start, mark) && isBase62(url, mark + 1);
}
