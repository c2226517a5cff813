import { hash } from 'node:crypto';

import { UserError } from '../errors/user-error.ts';
import type { Call } from './call.ts';
import { preconditionFailed } from './errors.ts';

/** Tells the caller by which tag it can name what it has seen. */
export function tagAnswer({ setHeader }: Call, state: object): void {
  setHeader('ETag', tagOf(state));
}

/** Throws if the caller named what it had seen and that is no longer so; `undefined` is something that does not exist. */
export function checkMatch({ ifMatch }: Call, state: object | undefined): void {
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
