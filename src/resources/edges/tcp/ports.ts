import { duplicateEntry } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { parseHostPort } from '../../../lib/host-port.ts';
import type { Transaction } from '../../../store/write/transaction.ts';
import type { Stored } from '../../../store/table.ts';
import { createPortHolder, ownersOfPort } from '../../port-holders.ts';
import type { ResourceSettings } from '../../resource.ts';
import type { Services } from '../../services.ts';
import { duplicatePort, hostportTaken, portNotOffered } from '../errors.ts';
import { checkHostportCount, readHostport } from '../hostports.ts';
import type { Reservation } from '../hostports.ts';
import { ports } from './table.ts';

export type PortRange = ResourceSettings['tcpPorts'];

/** The ports that hostports of a request reserve. The text is kept as sent: clients compare it. */
export function acceptPorts(hostports: readonly string[], range: PortRange): readonly Reservation[] {
  checkHostportCount(hostports);
  const claimed = new Map<number, Reservation>();
  for (const hostport of hostports) {
    const { port } = readHostport(hostport);
    if (!isOffered(port, range)) throw new UserError(portNotOffered, { port, hostport, ports: shownRange(range) });
    const rival = claimed.get(port);
    if (rival?.hostport === hostport) throw new UserError(duplicateEntry, { field: 'hostports', id: hostport });
    if (rival !== undefined) throw new UserError(duplicatePort, { first: rival.hostport, second: hostport, port });
    claimed.set(port, { key: port, hostport });
  }
  return [...claimed.values()];
}

export function isOffered(port: number, { first, last }: PortRange): boolean {
  return port >= first && port <= last;
}

export function shownRange({ first, last }: PortRange): string {
  return `${first}-${last}`;
}

/** The ports that stored hostports have reserved, whatever the settings are by now. */
export function claimedPorts(hostports: readonly string[]): readonly { key: number; hostport: string }[] {
  return hostports.map((hostport) => {
    const parsed = parseHostPort(hostport);
    // Accepted before it was stored: another form means that the database was changed by hand.
    if (!parsed.ok) throw new Error(`the stored hostport ${JSON.stringify(hostport)} ${parsed.reason}`);
    return { key: parsed.port, hostport };
  });
}

export const portHolder = createPortHolder({ ports: 'tcp_edge_ports', owner: 'edge_id', documents: 'tcp_edges' });

/** Gives the edge its ports. One that the account has reserved is its own; nobody else may hold it. */
export async function movePorts(
  transaction: Transaction,
  services: Services,
  edge: Stored,
  before: readonly Reservation[],
  now: readonly Reservation[],
): Promise<void> {
  await ports.replace(transaction, edge, before, now, async ({ key, hostport }) => {
    for (const { id, accountId, reserves } of await ownersOfPort(services, transaction, Number(key))) {
      const own = accountId === edge.account_id;
      // Addresses and tunnels of other accounts are none of the caller's business.
      if (id !== edge.id && !(own && reserves))
        throw new UserError(hostportTaken, { hostport, edge: own ? ` (${id})` : '' });
    }
  });
}
