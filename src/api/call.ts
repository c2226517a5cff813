import type { IncomingHttpHeaders } from 'node:http';

import type { Actor } from '../store/write/change-log.ts';
import type { Page } from '../store/table.ts';
import type { Caller } from './admission/caller.ts';
import type { Query } from './http/query.ts';

/** One request that has passed authentication, admission and validation. Plain data: no framework in it. */
export interface Call<Body = unknown> extends CallOptions {
  readonly caller: Caller;
  /** For `store.write`. */
  readonly actor: Actor;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  /** Fields of the body that cannot be set: whoever reads, changes and sends a resource sends them too. */
  readonly readOnly: Readonly<Record<string, unknown>>;
  /** Id for the resource that the call creates, if it is given one. */
  readonly newId?: string | undefined;
  readonly page: Page;
  /** Query parameters that the operation names as its filters, as given. */
  readonly filters: Readonly<Record<string, string>>;
  /** Entries that a filter may look at. */
  readonly filterRows: number;
  /** True if its client went away: reading may end, and a write that has begun goes on. */
  readonly isAbandoned: () => boolean;
  /** Prefix of every URI in the answer. */
  readonly base: string;
  /** An absolute URI from a path. */
  readonly uri: (path: string) => string;
  /** Sets a header of the answer. */
  readonly setHeader: (name: string, value: string) => void;
  /**
   * Performs another operation as the same caller, with its checks, and without those that lock the caller out. Undefined: there is no
   * such operation, or it may not be rehearsed.
   */
  readonly perform: (other: OtherCall) => (() => Promise<unknown>) | undefined;
}

export interface OtherCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: unknown;
}

/** Options that a caller gives in request headers. */
interface CallOptions {
  /** True: changes that lock the caller out are let through. */
  readonly allowLockout: boolean;
  /** Tags that the caller has seen; see `checkMatch`. */
  readonly ifMatch: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Id that a new resource should have, as it was sent. */
  readonly chosenId: string | undefined;
}

interface CallParts {
  readonly caller: Caller;
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly readOnly: Call['readOnly'] | undefined;
  readonly query: Query;
  readonly filterRows: number;
  readonly isAbandoned: Call['isAbandoned'];
  readonly base: string;
  readonly headers: IncomingHttpHeaders;
  readonly setHeader: Call['setHeader'];
  readonly perform: Call['perform'];
}

export function newCall(parts: CallParts): Call {
  const {
    caller,
    operationId,
    params,
    body,
    readOnly = {},
    query,
    filterRows,
    isAbandoned,
    base,
    headers,
    setHeader,
    perform,
  } = parts;
  return {
    caller,
    actor: { id: caller.principal.id, accountId: caller.accountId, operationId, call: caller },
    params,
    body,
    readOnly,
    page: query.page,
    filters: query.filters,
    filterRows,
    isAbandoned,
    base,
    uri: (path) => `${base}${path}`,
    allowLockout: headers['gatehouse-allow-lockout'] === 'true',
    ifMatch: headers['if-match'],
    idempotencyKey: singleHeader(headers['idempotency-key']),
    chosenId: singleHeader(headers['gatehouse-new-id']),
    setHeader,
    perform,
  };
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
