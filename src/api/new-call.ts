import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import type { Caller } from './caller.ts';
import type { Call } from './operation.ts';
import type { Query } from './query.ts';
import { baseUrl } from './uris.ts';
import type { UriOptions } from './uris.ts';

interface CallParts {
  readonly caller: Caller;
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly query: Query;
  readonly setHeader: Call['setHeader'];
}

/** A call from what was read of its request. */
export function newCall(request: IncomingMessage, parts: CallParts, options: UriOptions): Call {
  const { caller, operationId, params, body, query, setHeader } = parts;
  const { headers } = request;
  const base = baseUrl(request, options);
  return {
    caller,
    actor: { id: caller.principal.id, accountId: caller.accountId, operationId },
    params,
    body,
    page: query.page,
    filters: query.filters,
    base,
    uri: (path) => `${base}${path}`,
    allowLockout: headers['gatehouse-allow-lockout'] === 'true',
    ifMatch: headers['if-match'],
    idempotencyKey: singleHeader(headers['idempotency-key']),
    setHeader,
  };
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
