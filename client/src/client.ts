import { ApiError, ConnectionError } from './errors.ts';
import { readEvents } from './events.ts';
import type { ServerEvent } from './events.ts';
import { operations } from './generated.ts';
import type { ErrorBody, OperationFacts, OperationId, Operations } from './generated.ts';
import { defaultRetries, withRetries } from './retries.ts';
import type { RetryOptions } from './retries.ts';

export interface ClientOptions {
  /** Base URL of the API, such as `https://api.example.com`. */
  readonly url: string;
  /** Token of an API key; left out where a cookie signs in. */
  readonly token?: string | undefined;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly retries?: Partial<RetryOptions>;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- an object that nothing is required of
type Nothing = Record<never, never>;

/** Fields that are empty for an operation may be left out. */
type Input<Id extends OperationId> = Part<'path', Operations[Id]['path']> &
  Part<'query', Operations[Id]['query']> &
  Part<'body', Operations[Id]['body']>;

type Part<Name extends string, Value> = undefined extends Value
  ? { readonly [Key in Name]?: Value }
  : Nothing extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

export interface CallOptions {
  /** ETag of the state that the caller has seen; another one is refused with 412. */
  readonly ifMatch?: string | undefined;
  /** In place of a key of the client's own, for POST. */
  readonly idempotencyKey?: string;
  /** Id that a new resource gets, if it is free; for admins. */
  readonly newId?: string;
  /** Makes a change although it locks the caller out. */
  readonly allowLockout?: boolean;
  readonly signal?: AbortSignal;
}

export type CallInput<Id extends OperationId> = Input<Id> & CallOptions;

/** Input that may be left out where nothing in it is required. */
type Inputs<Id extends OperationId> = Nothing extends Input<Id> ? [input?: CallInput<Id>] : [input: CallInput<Id>];

export interface Reply<Document> {
  readonly document: Document;
  /** To be sent as `ifMatch` with the next change; undefined where the resource has none. */
  readonly etag: string | undefined;
  readonly operationId: string;
  /** Sentences about the resource, and ids of restrictions that would have refused this call if they were enforced. */
  readonly warnings: readonly string[];
}

/** Operations that answer a page. */
export type ListId = {
  [Id in OperationId]: Operations[Id]['response'] extends { next_page_uri: string | null } ? Id : never;
}[OperationId];

/** An entry of a page. */
export type Entry<Id extends ListId> = {
  [Key in keyof Operations[Id]['response']]-?: Operations[Id]['response'][Key] extends readonly (infer Item)[]
    ? Item
    : never;
}[keyof Operations[Id]['response']];

/** Calls the management API, by the ids of its operations. */
export class GatehouseClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retries: RetryOptions;
  readonly #fetch: typeof fetch;

  constructor({ url, token, headers = {}, retries = {}, fetch: given }: ClientOptions) {
    this.#base = url.replace(/\/+$/, '');
    this.#headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'service-version': '2',
      ...headers,
    };
    this.#retries = { ...defaultRetries, ...retries };
    this.#fetch = given ?? ((input, init) => fetch(input, init));
  }

  /** Returns the document that the operation answers. Throws an `ApiError` or a `ConnectionError`. */
  async call<Id extends OperationId>(id: Id, ...[input]: Inputs<Id>): Promise<Operations[Id]['response']> {
    return (await this.reply(id, ...([input] as Inputs<Id>))).document;
  }

  /** The same, with the ETag and what else came in headers. */
  reply<Id extends OperationId>(id: Id, ...[input]: Inputs<Id>): Promise<Reply<Operations[Id]['response']>> {
    // The server answers each operation with its own document.
    return this.replyTo(operations[id], input ?? {}) as Promise<Reply<Operations[Id]['response']>>;
  }

  /** Every entry of a list, newest first, read page by page as they are asked for. */
  async *list<Id extends ListId>(id: Id, ...[input]: Inputs<Id>): AsyncGenerator<Entry<Id>, void, undefined> {
    // The server answers each list with its own entries.
    yield* this.entriesOf(operations[id], input ?? {}) as AsyncGenerator<Entry<Id>, void, undefined>;
  }

  /** `list` of an operation that these types do not know, such as one of a newer server. */
  async *entriesOf(facts: OperationFacts, input: AnyInput): AsyncGenerator<unknown, void, undefined> {
    for await (const page of this.pagesOf(facts, input)) yield* page[facts.list ?? ''] as unknown[];
  }

  /** Pages of such a list, each with what it says beside its entries. */
  async *pagesOf(
    facts: OperationFacts,
    input: AnyInput,
  ): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
    let next = input;
    for (;;) {
      const { document } = (await this.replyTo(facts, next)) as Reply<Record<string, unknown>>;
      yield document;
      const uri = document['next_page_uri'];
      if (typeof uri !== 'string') return;
      // Only the query is taken: the token must not follow a link to another host.
      next = { ...next, query: Object.fromEntries(new URL(uri, 'http://list').searchParams) };
    }
  }

  /** `reply` of an operation that these types do not know, such as one of a newer server. */
  replyTo(facts: OperationFacts, input: AnyInput): Promise<Reply<unknown>> {
    const idempotencyKey = input.idempotencyKey ?? (facts.idempotencyKey ? crypto.randomUUID() : undefined);
    const request = this.#request(facts, input, idempotencyKey);
    return withRetries(
      async (attempt) => {
        try {
          return await this.#send(this.#base + pathWith(facts, input), request);
        } catch (error) {
          // The try before has done it, and its answer was lost.
          const isDone = facts.method === 'DELETE' && attempt > 1 && error instanceof ApiError && error.status === 404;
          if (!isDone) throw error;
          return { document: undefined, etag: undefined, operationId: error.operationId, warnings: [] };
        }
      },
      this.#retries,
      isRepeatable(facts, input, idempotencyKey),
      input.signal,
    );
  }

  #request({ method }: OperationFacts, input: AnyInput, idempotencyKey: string | undefined): RequestInit {
    const { body, ifMatch, newId, allowLockout, signal } = input;
    const headers: Record<string, string> = { ...this.#headers };
    if (body !== undefined) headers['content-type'] = typeof body === 'string' ? 'text/plain' : 'application/json';
    if (ifMatch !== undefined) headers['if-match'] = ifMatch;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    if (newId !== undefined) headers['gatehouse-new-id'] = newId;
    if (allowLockout === true) headers['gatehouse-allow-lockout'] = 'true';
    return {
      method,
      headers,
      redirect: 'error',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /**
   * Events of an operation that answers a stream, from now on and until the stream ends. Nothing is tried again: what came
   * between two streams is lost, which the caller should know of.
   */
  async *events(id: OperationId, input: AnyInput = {}): AsyncGenerator<ServerEvent, void, undefined> {
    const facts = operations[id];
    const url = this.#base + pathWith(facts, input);
    const request = this.#request(facts, input, undefined);
    const response = await this.#open(url, request);
    if (!response.ok) throw apiError(response, await readText(url, request, response));
    try {
      // Streams of Node and of newer browsers are iterable.
      yield* readEvents(response.body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>);
    } catch (error) {
      throw toConnectionError(url, request, error);
    }
  }

  async #send(url: string, request: RequestInit): Promise<Reply<unknown>> {
    const response = await this.#open(url, request);
    const text = await readText(url, request, response);
    if (!response.ok) throw apiError(response, text);
    return {
      document: parse(text),
      etag: response.headers.get('etag') ?? undefined,
      operationId: operationIdOf(response),
      warnings: response.headers.get('gatehouse-warning')?.split(/,\s*/) ?? [],
    };
  }

  async #open(url: string, request: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(url, request);
    } catch (error) {
      throw toConnectionError(url, request, error);
    }
  }
}

async function readText(url: string, request: RequestInit, response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw toConnectionError(url, request, error);
  }
}

/** The error itself if the caller has ended the call. */
function toConnectionError(url: string, request: RequestInit, error: unknown): unknown {
  if (request.signal?.aborted === true) return error;
  const { origin } = new URL(url);
  return new ConnectionError(`No answer from ${origin}: ${reasonOf(error, origin)}`, { cause: error });
}

function apiError(response: Response, text: string): ApiError {
  return new ApiError(response.status, errorBody(parse(text)), operationIdOf(response), retryAfter(response));
}

function operationIdOf({ headers }: Response): string {
  return headers.get('gatehouse-operation-id') ?? '';
}

/** Input of an operation that is known by its facts alone. */
export interface AnyInput extends CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

function pathWith({ path, query }: OperationFacts, input: AnyInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input.path?.[name];
    if (value === undefined || value === '') throw new TypeError(`The path parameter "${name}" is missing.`);
    return encodeURIComponent(value);
  });
  const parameters = new URLSearchParams();
  for (const name of query) {
    const value = input.query?.[name];
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? filled : `${filled}?${parameters.toString()}`;
}

/** A PATCH that a state was demanded for would be refused the second time, although the first one had succeeded. */
function isRepeatable({ method }: OperationFacts, { ifMatch }: AnyInput, idempotencyKey: string | undefined): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  if (method === 'POST') return idempotencyKey !== undefined;
  return ifMatch === undefined;
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function errorBody(document: unknown): Partial<ErrorBody> {
  if (typeof document !== 'object' || document === null || !('error_code' in document)) return {};
  // Every error of the API has this form.
  return document as ErrorBody;
}

function retryAfter({ headers }: Response): number | undefined {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}

/** Codes of Node for a certificate of an authority that it does not trust. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** `fetch` says only "fetch failed"; its cause says why. */
function reasonOf(error: unknown, origin: string): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause ? String(cause.code) : '';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    const isPlain = /wrong version number|packet length too long|http request/i.test(cause.message);
    if (isPlain) return `it does not speak TLS; write ${origin.replace('https:', 'http:')}`;
    return `the TLS handshake failed (${code}): is this the address of the API?`;
  }
  if (untrusted.has(code))
    return `its certificate is not trusted (${cause.message}); NODE_EXTRA_CA_CERTS=FILE names an authority to trust`;
  if (code === 'UND_ERR_SOCKET') return `${cause.message}; is this the address of the API, and of plain HTTP?`;
  return cause.message || cause.name;
}
