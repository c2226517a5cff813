import { UserError } from '../../../errors/user-error.ts';
import type { Transaction } from '../../../store/write/group-commit.ts';
import type { Stored } from '../../../store/table.ts';
import { findNameUse } from '../../hostname-holders.ts';
import type { ResourceContext } from '../../resource.ts';
import { hostnameOverlap, hostportTaken } from '../errors.ts';
import type { Reservation } from '../hostports.ts';
import { hostnames } from './hostnames.ts';
import { httpsEdges } from './table.ts';

/**
 * Gives the edge its names. A name and the wildcard above it may be two edges of one account; between accounts that
 * would let one take the other's traffic. Names of the installation are given to none; what an edge has, it keeps.
 */
export async function moveHostnames(
  transaction: Transaction,
  { services, settings }: Pick<ResourceContext, 'services' | 'settings'>,
  edge: Stored,
  before: readonly Reservation[],
  now: readonly Reservation[],
): Promise<void> {
  await hostnames.replace(transaction, edge, before, now, async ({ key, hostport }) => {
    await settings.ownNames.check(String(key));
    const { isElsewhere, users, usersElsewhere } = await findNameUse(
      services,
      transaction,
      edge.account_id,
      String(key),
    );
    const other = users.find((id) => id !== edge.id);
    if (other !== undefined) throw new UserError(hostportTaken, { hostport, edge: ` (${other})` });
    // Another account's edges are none of the caller's business.
    if (usersElsewhere.some((id) => httpsEdges.mayHave(id))) throw new UserError(hostportTaken, { hostport, edge: '' });
    if (isElsewhere) throw new UserError(hostnameOverlap, { hostport });
  });
}
