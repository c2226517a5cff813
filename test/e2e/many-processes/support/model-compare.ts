import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

import type { Answer } from './call.ts';
import { uriOf } from './model.ts';
import type { Fault, Kind, Thing } from './model.ts';

/** What was last shown of each resource. */
export class Shown {
  readonly #last = new Map<string, { readonly state: object; readonly tag: string }>();

  /** The body is what the model says, and the tag is another if, and only if, the body is. */
  compare(kind: Kind, thing: Thing, { body, headers }: Answer, token?: unknown): void {
    assert.deepEqual(body, view(kind, thing, token));
    const now = { tag: headers.get('etag') ?? '', state: view(kind, thing) };
    const last = this.#last.get(thing.id);
    this.#last.set(thing.id, now);
    if (last === undefined) return;
    assert.equal(now.tag === last.tag, isDeepStrictEqual(now.state, last.state), `ETag of ${thing.id}`);
  }

  /** It was changed by other means, and may have been changed back. */
  forget(id: string): void {
    this.#last.delete(id);
  }
}

/** As an answer shows it. */
export function view(kind: Kind, thing: Thing, token: unknown = null): object {
  const shown = { ...thing, uri: uriOf(kind.path, thing.id) };
  return kind.path === '/api_keys' ? { ...shown, token } : shown;
}

/** True when it succeeded, as it should. */
export function expectStatus({ status, body, text }: Answer, success: number, fault: Fault | undefined): boolean {
  if (fault === undefined) assert.equal(status, success, text);
  else assert.equal(body?.error_code, `ERR_GATEHOUSE_${fault}`, `answered ${status} ${text}`);
  return fault === undefined;
}
