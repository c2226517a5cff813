import type { Caller } from '../../api/caller.ts';
import { wrongIdKindOfSeveral } from '../../api/errors.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { Transaction } from '../../store/group-commit.ts';
import type { Principals } from '../principals/service.ts';
import { inactiveOwner, notKeyOwner, otherOwner, unknownOwner } from './errors.ts';
import type { ApiKey } from './table.ts';

/** Checks an owner of a new key who is not the caller. */
export async function checkOwner(
  transaction: Transaction,
  { principal, accountId }: Caller,
  ownerId: string,
  directory: Principals,
): Promise<void> {
  if (!principal.admin) throw new UserError(otherOwner, { owner: quote(ownerId) });
  if (!hasPrefix(ownerId, 'usr') && !hasPrefix(ownerId, 'bot')) {
    throw new UserError(wrongIdKindOfSeveral, { field: 'owner_id', id: quote(ownerId), prefixes: 'usr_, bot_' });
  }
  const owner = await directory.load(transaction, accountId, ownerId);
  if (owner === undefined) throw new UserError(unknownOwner, { owner: quote(ownerId) });
  if (!owner.active) throw new UserError(inactiveOwner, { owner: ownerId });
}

export function checkMayWrite({ principal }: Caller, { id, owner_id }: ApiKey): void {
  if (!principal.admin && principal.id !== owner_id) throw new UserError(notKeyOwner, { key: id, owner: owner_id });
}
