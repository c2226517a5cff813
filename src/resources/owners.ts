import type { Caller } from '../api/admission/caller.ts';
import { wrongIdKindOfSeveral } from '../api/errors.ts';
import { quote, UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import { hasPrefix } from '../lib/ids.ts';
import type { Transaction } from '../store/write/transaction.ts';
import { principals } from './principals/service.ts';
import type { Services } from './services.ts';

/** Refusals of an owner; each message has a place for `owner`. */
interface OwnerErrors {
  readonly other: ErrorDefinition<'owner'>;
  readonly unknown: ErrorDefinition<'owner'>;
  readonly inactive: ErrorDefinition<'owner'>;
}

/** The owner of a new resource: the one that is named, or the caller. */
export function ownerOf({ principal }: Caller, wanted: string | undefined): string {
  // Official clients send "" for what was not given.
  return wanted === undefined || wanted === '' ? principal.id : wanted;
}

/** Throws unless the caller may create for this owner: an admin may, for every active user or bot of the account. */
export async function authorizeOwner(
  transaction: Transaction,
  caller: Caller,
  wanted: string | undefined,
  services: Services,
  errors: OwnerErrors,
): Promise<void> {
  const { principal, accountId } = caller;
  const ownerId = ownerOf(caller, wanted);
  if (ownerId === principal.id) return;
  if (principal.role !== 'admin') throw new UserError(errors.other, { owner: quote(ownerId) });
  if (!hasPrefix(ownerId, 'usr') && !hasPrefix(ownerId, 'bot')) {
    throw new UserError(wrongIdKindOfSeveral, { field: 'owner_id', id: quote(ownerId), prefixes: 'usr_, bot_' });
  }
  const owner = await services.get(principals).load(transaction, accountId, ownerId);
  if (owner === undefined) throw new UserError(errors.unknown, { owner: quote(ownerId) });
  if (!owner.active) throw new UserError(errors.inactive, { owner: ownerId });
}
