import type { Store } from '../../../store/store.ts';
import type { Services } from '../../services.ts';
import { unopenedPorts } from '../service.ts';
import { claimedPorts, isOffered, shownRange } from './ports.ts';
import type { PortRange } from './ports.ts';
import type { TcpEdge } from './table.ts';

/** Most edges that the log names at once. */
const namedEdges = 50;

export interface ClosedPort {
  readonly port: number;
  readonly reason: string;
}

/** The ports of an edge that nobody can connect to: outside the range, or refused by the system. */
export function closedPortsOf(
  { id, hostports }: Pick<TcpEdge, 'id' | 'hostports'>,
  range: PortRange,
  services: Services,
): readonly ClosedPort[] {
  const outside = claimedPorts(hostports)
    .filter(({ key }) => !isOffered(key, range))
    .map(({ key }) => ({ port: key, reason: `it is not among the ports of this installation (${shownRange(range)})` }));
  const refused = services
    .get(unopenedPorts)
    .list()
    .filter(({ edgeId }) => edgeId === id)
    .map(({ port, reason }) => ({ port, reason }));
  return [...outside, ...refused];
}

/** Names the edges that a narrower range has closed. */
export async function describeClosedEdges(store: Store, range: PortRange): Promise<string | undefined> {
  const rows = await store.queries.all(
    `SELECT port, edge_id FROM tcp_edge_ports WHERE port < $1 OR port > $2 ORDER BY port LIMIT ${namedEdges + 1}`,
    [range.first, range.last],
  );
  if (rows.length === 0) return undefined;
  const named = rows.slice(0, namedEdges).map(([port, edge]) => `${port} (${edge})`);
  return (
    `ports of TCP edges outside tcp_ports (${shownRange(range)}) are closed: ${named.join(', ')}` +
    `${rows.length > namedEdges ? ' and more' : ''}. Widen tcp_ports, or give these edges other ports.`
  );
}
