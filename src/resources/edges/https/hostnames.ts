import { duplicateEntry } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { parseIp } from '../../../lib/ip/address.ts';
import type { Transaction } from '../../../store/group-commit.ts';
import type { Stored } from '../../../store/table.ts';
import { findNameUse, parentOf } from '../../hostname-holders.ts';
import type { HostnameHolder } from '../../hostname-holders.ts';
import type { Services } from '../../services.ts';
import { hostnameOverlap, hostportTaken, invalidHostport, wrongHttpsPort } from '../errors.ts';
import { checkHostportCount, Reservations, readHostport } from '../hostports.ts';
import type { Reservation } from '../hostports.ts';

/** A name belongs to one edge, whatever the port: the gateway chooses the edge by name. */
export const hostnames = new Reservations({
  name: 'https_edge_hostnames',
  key: 'hostname',
  keyType: 'TEXT',
  edges: 'https_edges',
  columns: { parent: (hostname) => parentOf(String(hostname)) },
});

/** The names that hostports of a request reserve, in lower case. */
export function acceptHostnames(hostports: readonly string[], httpsPort: number): readonly Reservation[] {
  checkHostportCount(hostports);
  const claimed = new Map<string, Reservation>();
  for (const given of hostports) {
    const { host, port } = readHostport(given, { wildcard: true, usualPort: httpsPort });
    const hostport = `${host}:${port}`;
    if (parseIp(host) !== undefined) {
      throw new UserError(invalidHostport, { hostport, reason: 'an HTTPS edge is reached by name, not by address.' });
    }
    if (port !== httpsPort)
      throw new UserError(wrongHttpsPort, { hostport, port: httpsPort, meant: `${host}:${httpsPort}` });
    if (claimed.has(host)) throw new UserError(duplicateEntry, { field: 'hostports', id: hostport });
    claimed.set(host, { key: host, hostport });
  }
  return [...claimed.values()];
}

/** The names that stored hostports have reserved, whatever the settings are by now. */
export function claimedHostnames(hostports: readonly string[]): readonly Reservation[] {
  return hostports.map((hostport) => ({ key: hostport.slice(0, hostport.lastIndexOf(':')), hostport }));
}

export const hostnameHolder: HostnameHolder = {
  tables: 'https_edge_hostnames JOIN https_edges ON id = edge_id',
  reserves: false,
};

/**
 * Gives the edge its names. A name and the wildcard above it may be two edges of one account; between accounts that
 * would let one take the other's traffic.
 */
export async function moveHostnames(
  transaction: Transaction,
  services: Services,
  edge: Stored,
  before: readonly Reservation[],
  now: readonly Reservation[],
): Promise<void> {
  const added = await hostnames.replace(transaction, edge, before, now);
  for (const { key, hostport } of added) {
    const { isElsewhere, users } = await findNameUse(services, transaction, edge.account_id, String(key));
    if (isElsewhere) throw new UserError(hostnameOverlap, { hostport });
    const other = users.find((id) => id !== edge.id);
    if (other !== undefined) throw new UserError(hostportTaken, { hostport, edge: ` (${other})` });
  }
}
