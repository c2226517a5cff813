import type { ResourceContext } from '../../resource.ts';
import { edgeWrites } from '../edge-writes.ts';
import { acceptPorts, claimedPorts, movePorts } from './ports.ts';
import { tcpEdges } from './table.ts';

export const target = 'tcp_edge';

export function tcpEdgeWrites(context: ResourceContext) {
  const { services, settings } = context;
  return edgeWrites({
    table: tcpEdges,
    target,
    context,
    accept: (hostports) => acceptPorts(hostports, settings.tcpPorts),
    claimed: claimedPorts,
    move: (transaction, edge, before, now) => movePorts(transaction, services, edge, before, now),
  });
}
