import type { Caller } from '../../api/admission/caller.ts';
import { UserError } from '../../errors/user-error.ts';
import { notKeyOwner } from './errors.ts';
import type { ApiKey } from './table.ts';

export function checkMayWrite({ principal }: Caller, { id, owner_id }: ApiKey): void {
  if (!principal.admin && principal.id !== owner_id) throw new UserError(notKeyOwner, { key: id, owner: owner_id });
}
