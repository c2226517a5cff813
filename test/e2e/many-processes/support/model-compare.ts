import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

import type { Answer } from './call.ts';
import { uriOf } from './model.ts';
import type { Fault, Kind, Thing } from './model.ts';

/** The last response seen for each resource. */
export class LastSeen {
  readonly #last = new Map<string, { readonly state: object; readonly tag: string }>();

  /** Checks that the body is that of the model, and that the ETag changed if, and only if, the body did. */
  compare(kind: Kind, thing: Thing, { body, headers }: Answer, token?: unknown): void {
    assert.deepEqual(withoutObservations(body), view(kind, thing, token));
    const now = { tag: headers.get('etag') ?? '', state: view(kind, thing) };
    const last = this.#last.get(thing.id);
    this.#last.set(thing.id, now);
    if (last === undefined) return;
    assert.equal(now.tag === last.tag, isDeepStrictEqual(now.state, last.state), `ETag of ${thing.id}`);
  }

  /** Drops the last response of a resource that another operation changed, perhaps back. */
  forget(id: string): void {
    this.#last.delete(id);
  }
}

/** Leaves out what the service saw rather than was told, which comes some time later. */
export function withoutObservations({ last_used_at: _seen, ...body }: Readonly<Record<string, unknown>>): object {
  return body;
}

/** Returns the response body for a resource. */
export function view(kind: Kind, thing: Thing, token: unknown = null): object {
  const body = { ...thing, uri: uriOf(kind.path, thing.id) };
  return kind.path === '/api_keys' ? { ...body, token } : body;
}

/** Checks the status or error of a response; returns true for an expected success. */
export function expectStatus({ status, body, text }: Answer, success: number, fault: Fault | undefined): boolean {
  if (fault === undefined) assert.equal(status, success, text);
  else assert.equal(body?.error_code, `ERR_GATEHOUSE_${fault}`, `answered ${status} ${text}`);
  return fault === undefined;
}
