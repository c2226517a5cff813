import { UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Stored } from '../../store/table.ts';
import { findNameUse } from '../hostname-holders.ts';
import type { ResourceContext } from '../resource.ts';
import { hostnameOverlap, hostportTaken } from './errors.ts';
import type { Reservation, Reservations } from './hostports.ts';
import { edgeAddresses } from './service.ts';

/**
 * Gives the edge its names. A name and the wildcard above it may be two edges of one account; between accounts that
 * would let one take the other's traffic. Names of the installation are given to none; what an edge has, it keeps.
 */
export async function moveHostnames(
  transaction: Transaction,
  { services, settings }: Pick<ResourceContext, 'services' | 'settings'>,
  hostnames: Reservations,
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
    const isEdge = (id: string) => services.all(edgeAddresses).some(({ prefix }) => hasPrefix(id, prefix));
    if (usersElsewhere.some(isEdge)) throw new UserError(hostportTaken, { hostport, edge: '' });
    if (isElsewhere) throw new UserError(hostnameOverlap, { hostport });
  });
}
