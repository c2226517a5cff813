import { hash } from 'node:crypto';

import { UserError } from '../errors/user-error.ts';
import type { Call } from './operation.ts';

/** Documents in memory never change, so their tags are made once. */
const tags = new WeakMap<object, string>();

/** Tells the caller by which tag it can name what it has seen. */
export function tagAnswer({ setHeader }: Call, state: object): void {
  setHeader('ETag', etagOf(state));
}

/** Throws if the caller named what it had seen and that is no longer so; `undefined` is something that does not exist. */
export function checkMatch({ ifMatch }: Call, state: object | undefined): void {
  if (ifMatch === undefined) return;
  const current = state === undefined ? undefined : etagOf(state);
  const named = new Set(ifMatch.split(',').map((tag) => tag.trim()));
  const fits = current !== undefined && (named.has(current) || named.has('*'));
  if (!fits) throw new UserError(20020, { current: current ?? 'none: it is not set' });
}

function etagOf(state: object): string {
  let tag = tags.get(state);
  if (tag === undefined) {
    tag = `"${hash('sha256', JSON.stringify(state), 'base64url').slice(0, 22)}"`;
    tags.set(state, tag);
  }
  return tag;
}
