import { duplicateEntry } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { parseHostPort } from '../../../lib/host-port.ts';
import type { ResourceSettings } from '../../resource.ts';
import { duplicatePort, portNotOffered } from '../errors.ts';
import { checkHostportCount, readHostport } from '../hostports.ts';
import type { Reservation } from '../hostports.ts';

type PortRange = ResourceSettings['tcpPorts'];

/** The ports that hostports of a request reserve. The text is kept as sent: clients compare it. */
export function acceptPorts(hostports: readonly string[], { first, last }: PortRange): readonly Reservation[] {
  checkHostportCount(hostports);
  const claimed = new Map<number, Reservation>();
  for (const hostport of hostports) {
    const { port } = readHostport(hostport);
    if (port < first || port > last) throw new UserError(portNotOffered, { port, hostport, ports: `${first}-${last}` });
    const rival = claimed.get(port);
    if (rival?.hostport === hostport) throw new UserError(duplicateEntry, { field: 'hostports', id: hostport });
    if (rival !== undefined) throw new UserError(duplicatePort, { first: rival.hostport, second: hostport, port });
    claimed.set(port, { key: port, hostport });
  }
  return [...claimed.values()];
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
