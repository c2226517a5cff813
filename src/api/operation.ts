import type { Static, TSchema } from 'typebox';

import type { ErrorDefinition, UserError } from '../errors/user-error.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { Call } from './call.ts';
import type { FilterFields } from './filter/fields.ts';
import type { Rights } from './admission/rights.ts';
import type { Reverter } from './reverter.ts';

/** Turns a value that failed validation into a better answer than the general one; undefined leaves it as it is. */
export type FieldError = (value: unknown, missing: boolean) => UserError | undefined;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request header by which a caller changes what an operation does, as the OpenAPI document names its parameter. */
export type OptionHeader = 'IfMatch' | 'IdempotencyKey' | 'AllowLockout' | 'NewId';

export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
}

/** One operation of the API: the single source for the server and the OpenAPI document. */
export interface Operation<Body = never> {
  readonly method: Method;
  /** With `{name}` parameters. */
  readonly path: string;
  /** Unique, for generated clients: `ApiKeysCreate`. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly rights: Rights;
  /** True if it changes nothing, although it is no GET: viewers and keys that only read may call it. */
  readonly onlyReads?: boolean;
  /** True for a write that decides about visitors and tells nothing to the outside: it may be carried out and undone, to see who would notice it. */
  readonly isRehearsable?: boolean;
  readonly body?: TSchema;
  /** `module`: the body may also come wrapped in `{"module": …}`. `list`: it is not an object. */
  readonly bodyForm?: 'object' | 'module' | 'list';
  /** Whatever is no JSON object counts as no body: the operation has no options, and a client sends an id there. */
  readonly ignoresOtherBodies?: boolean;
  /** Fields of the answer that the body does not take are accepted when they are as stored; `Call.readOnly` has them. */
  readonly takesReadOnly?: boolean;
  /** A list may also come as it is shown: under this key of a page, and with these fields in its entries, which are ignored. */
  readonly shownAs?: { readonly key: string; readonly entryFields: readonly string[] };
  readonly bodyLimit?: number;
  /** Longest entry of a list, in bytes, where the usual one is too short. */
  readonly entryLimitBytes?: number;
  /** Names an entry of a list in messages, in place of its number. */
  readonly entryPlace?: (entry: unknown) => string;
  /** Parses a list that comes as `text/plain`; in slices, because it may be long. */
  readonly parseText?: (bytes: Buffer, isAbandoned: () => boolean) => Promise<readonly unknown[]>;
  /** Media types of the body, if not only JSON. */
  readonly bodyTypes?: readonly string[];
  /** Fields that belong elsewhere, with a sentence that says where. */
  readonly misplacedFields?: Readonly<Record<string, string>>;
  /** By name of a field at the top of the body. */
  readonly fieldErrors?: Readonly<Record<string, FieldError>>;
  /** Prefix of the ids that a list pages by; undefined for other operations. */
  readonly listedPrefix?: string;
  /** Fields that the query parameter `filter` may name; undefined where there is no such parameter. */
  readonly filterFields?: FilterFields;
  /** Query parameters of a list beside those that page. */
  readonly filters?: readonly string[];
  /** Query parameters with descriptions of their own; the call has them among its filters. */
  readonly query?: readonly QueryParameter[];
  /** Request headers that change what the operation does. */
  readonly accepts?: readonly OptionHeader[];
  readonly status: 200 | 201 | 204;
  readonly response?: TSchema;
  /** The answer may be so large that its text is made in slices. */
  readonly mayBeLarge?: boolean;
  /** The answer is an `EventSource` that goes on until the client leaves; `response` is the form of the whole text. */
  readonly streams?: boolean;
  readonly example?: unknown;
  /** Undoes changes of the resource that the operation writes. */
  readonly reverter?: Reverter;
  /** Errors beyond those that any call can meet. */
  readonly errors: readonly ErrorDefinition[];
  handle(call: Call<Body>): Awaitable<unknown>;
}

/** Ties the type of the body to its schema. */
export function operation<const Schema extends TSchema>(
  definition: Omit<Operation<Static<Schema>>, 'body'> & { readonly body: Schema },
): Operation;
export function operation(definition: Omit<Operation<undefined>, 'body'>): Operation;
export function operation(definition: unknown): Operation {
  // The overloads have tied `handle` to `body`; the server validates before it calls.
  return definition as Operation;
}
