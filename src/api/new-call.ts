import type { IncomingHttpHeaders } from 'node:http';

import type { Caller } from './caller.ts';
import type { Call } from './operation.ts';
import type { Query } from './query.ts';

/** What a caller asks for in headers of its own. */
type CallOptions = Pick<Call, 'allowLockout' | 'ifMatch' | 'idempotencyKey'>;

interface CallParts {
  readonly caller: Caller;
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly query: Query;
  readonly base: string;
  readonly wishes: CallOptions;
  readonly setHeader: Call['setHeader'];
}

/** A call from what was read of its request. */
export function newCall({ caller, operationId, params, body, query, base, wishes, setHeader }: CallParts): Call {
  return {
    caller,
    actor: { id: caller.principal.id, accountId: caller.accountId, operationId },
    params,
    body,
    page: query.page,
    filters: query.filters,
    base,
    uri: (path) => `${base}${path}`,
    allowLockout: wishes.allowLockout,
    ifMatch: wishes.ifMatch,
    idempotencyKey: wishes.idempotencyKey,
    setHeader,
  };
}

export const noWishes: CallOptions = { allowLockout: false, ifMatch: undefined, idempotencyKey: undefined };

export function readCallOptions(headers: IncomingHttpHeaders): CallOptions {
  return {
    allowLockout: headers['gatehouse-allow-lockout'] === 'true',
    ifMatch: headers['if-match'],
    idempotencyKey: singleHeader(headers['idempotency-key']),
  };
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
