import { hash } from 'node:crypto';

import { UserError } from '../../errors/user-error.ts';
import type { Call } from '../call.ts';
import { preconditionFailed } from '../errors.ts';

/** Sets the ETag of the response, by which the caller can name this state in If-Match. */
export function setEtag({ setHeader }: Call, state: object): void {
  // In lower case: the framework would convert it at each call.
  setHeader('etag', tagOf(state));
}

/** Throws if the request has an If-Match that does not fit the current state; `undefined` stands for a missing resource. */
export function checkIfMatch({ ifMatch }: Call, state: object | undefined): void {
  if (ifMatch === undefined) return;
  const current = state === undefined ? undefined : tagOf(state);
  const named = new Set(ifMatch.split(',').map((tag) => tag.trim()));
  const fits = current !== undefined && (named.has(current) || named.has('*'));
  if (!fits) throw new UserError(preconditionFailed, { current: current ?? 'none: it is not set' });
}

/** Documents in memory are never changed, only replaced: their tags are computed once. */
const tags = new WeakMap<object, string>();

function tagOf(state: object): string {
  let tag = tags.get(state);
  if (tag === undefined) {
    tag = `"${hash('sha256', JSON.stringify(state), 'base64url').slice(0, 22)}"`;
    tags.set(state, tag);
  }
  return tag;
}

/** True if a list of tags in If-None-Match names this one; it compares weakly, as RFC 9110 says for that header. */
export function matchesEtag(list: string | undefined, etag: string): boolean {
  if (list === undefined) return false;
  return list.split(',').some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*');
}
