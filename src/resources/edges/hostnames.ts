import { duplicateEntry } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { parentOf } from '../hostname-holders.ts';
import type { HostnameHolder } from '../hostname-holders.ts';
import { invalidHostport, wrongHttpsPort } from './errors.ts';
import { checkHostportCount, Reservations, readHostport } from './hostports.ts';
import type { Reservation } from './hostports.ts';

/** A name belongs to one edge, whatever the port: the gateway chooses the edge by name. */
export function hostnameReservations(name: string, edges: string): Reservations {
  const parent = (hostname: string | number) => parentOf(String(hostname));
  return new Reservations({ name, key: 'hostname', keyType: 'TEXT', edges, columns: { parent } });
}

/** The names that hostports of a request reserve, in lower case. */
export function acceptHostnames(hostports: readonly string[], httpsPort: number): readonly Reservation[] {
  checkHostportCount(hostports);
  const claimed = new Map<string, Reservation>();
  for (const given of hostports) {
    const { host, port } = readHostport(given, { wildcard: true, usualPort: httpsPort });
    const hostport = `${host}:${port}`;
    if (parseIp(host) !== undefined) {
      throw new UserError(invalidHostport, { hostport, reason: 'this edge is reached by name, not by address.' });
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
  return hostports.map((hostport) => ({ key: hostnameOf(hostport), hostport }));
}

export function hostnameOf(hostport: string): string {
  return hostport.slice(0, hostport.lastIndexOf(':'));
}

export function hostnameHolder(table: string, edges: string): HostnameHolder {
  return {
    table,
    id: 'edge_id',
    accountId: `(SELECT account_id FROM ${edges} WHERE id = edge_id)`,
    reserves: false,
  };
}
