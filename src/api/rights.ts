import { UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import type { Caller } from './caller.ts';
import { adminOnly } from './errors.ts';

/** Limits an operation to admins; everybody else gets the refusal. */
interface AdminRights {
  readonly error: ErrorDefinition;
  readonly refusal: () => UserError;
}

/**
 * Who may call an operation: `everyone` in the account; `owner`, where the operation itself refuses a member or bot what
 * belongs to another; or admins alone. Every operation states it, so that none is open by omission.
 */
export type Rights = 'everyone' | 'owner' | AdminRights;

/** `action` completes "Only an admin may …". */
export function adminsMay(action: string): AdminRights {
  return { error: adminOnly, refusal: () => new UserError(adminOnly, { action }) };
}

export function checkRights(rights: Rights, { principal }: Caller): void {
  if (typeof rights === 'object' && !principal.admin) throw rights.refusal();
}

/** The word for it in the OpenAPI document. */
export function roleOf(rights: Rights): 'everyone' | 'owner' | 'admin' {
  return typeof rights === 'object' ? 'admin' : rights;
}
