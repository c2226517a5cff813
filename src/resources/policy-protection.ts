import type { Caller } from '../api/admission/caller.ts';
import { UserError } from '../errors/user-error.ts';
import type { Queries } from '../store/database.ts';
import { policyProtected } from './ip-policies/errors.ts';
import { serviceListKey } from './services.ts';
import type { Services } from './services.ts';

/** A resource that admits callers by IP policies: whoever writes such a policy decides who may call. */
export interface PolicyProtector {
  /** Names, for a message, the thing that keeps a caller who is no admin from writing the policy. */
  protectorOf(queries: Queries, caller: Caller, policyId: string): Promise<string | undefined>;
}

export const policyProtectors = serviceListKey<PolicyProtector>('protectors of IP policies');

/**
 * Throws unless the caller may write the policy and its rules. To be called inside the transaction of the write, so
 * that a restriction which was enforced a moment ago counts.
 */
export async function checkMayWritePolicy(
  services: Services,
  queries: Queries,
  caller: Caller,
  policyId: string,
): Promise<void> {
  if (caller.principal.role === 'admin') return;
  for (const each of services.all(policyProtectors)) {
    const user = await each.protectorOf(queries, caller, policyId);
    if (user !== undefined) throw new UserError(policyProtected, { policy: policyId, user });
  }
}
