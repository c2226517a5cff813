import { UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { Caller } from './caller.ts';
import { adminOnly, keyReadOnly, viewersRead } from '../errors.ts';
import type { Operation } from '../operation.ts';

/** Limits an operation to admins; everybody else gets the refusal. `adminsMay` makes one with the usual error. */
interface AdminRights {
  readonly error: ErrorDefinition;
  readonly refusal: () => UserError;
}

/**
 * The principals that may call an operation, of which viewers only read: `everyone` in the account; `owner`, where the operation itself refuses
 * members and bots the resources of others; `unprotected`, where it refuses them what decides who may call; or admins
 * alone. Required, so that no operation is open by omission.
 */
export type Rights = 'everyone' | 'owner' | 'unprotected' | AdminRights;

/** `action` completes "Only an admin may …". */
export function adminsMay(action: string): AdminRights {
  return { error: adminOnly, refusal: () => new UserError(adminOnly, { action }) };
}

/** The one place where roles decide, for keys and for sessions of the dashboard alike. */
export function checkRights(operation: Operation, { principal: { role }, keyId, readOnly }: Caller): void {
  const { rights, method } = operation;
  if (method !== 'GET' && operation.onlyReads !== true) {
    if (role === 'viewer') throw new UserError(viewersRead, { method });
    if (readOnly) throw new UserError(keyReadOnly, { key: keyId ?? '', method });
  }
  if (typeof rights === 'object' && role !== 'admin') throw rights.refusal();
}

/** The word for it in the OpenAPI document. */
export function roleOf(rights: Rights): 'everyone' | 'owner' | 'unprotected' | 'admin' {
  return typeof rights === 'object' ? 'admin' : rights;
}
