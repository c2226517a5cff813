import type { Caller } from '../../api/admission/caller.ts';
import { UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { endsAfterCaller, notKeyOwner, replacedToken } from './errors.ts';
import type { ApiKey } from './table.ts';

export function checkMayWrite({ principal }: Caller, { id, owner_id }: ApiKey): void {
  if (principal.role !== 'admin' && principal.id !== owner_id)
    throw new UserError(notKeyOwner, { key: id, owner: owner_id });
}

/** Keeps a token that a rotation has replaced from ending the one that replaced it. `key` is read in the transaction. */
export function checkIsCurrent({ keyId, rotation }: Caller, { id, rotations = 0 }: ApiKey): void {
  if (keyId === id && rotation !== rotations) throw new UserError(replacedToken, { key: id });
}

/** Keeps a token that ends from giving anybody a token that is good for longer. `previous` is read in the transaction. */
export function checkEnd({ keyId, endsAtMs }: Caller, key: ApiKey, previous?: ApiKey): void {
  const ownEndMs = previous !== undefined && previous.id === keyId ? Math.min(endsAtMs, endOf(previous)) : endsAtMs;
  if (endOf(key) > ownEndMs) throw new UserError(endsAfterCaller, { end: toTimestamp(ownEndMs) });
}

export function endOf({ expires_at }: ApiKey): number {
  return expires_at === undefined ? Infinity : Date.parse(expires_at);
}
