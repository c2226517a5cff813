import type { ResourceContext } from '../../resource.ts';
import { edgeWrites } from '../edge-writes.ts';
import { acceptPorts, claimedPorts, movePorts } from './ports.ts';
import { tcpEdges } from './table.ts';

export const target = 'tcp_edge';

export function tcpEdgeWrites({ referables, services, settings }: ResourceContext) {
  return edgeWrites({
    table: tcpEdges,
    target,
    referables,
    accept: (hostports) => acceptPorts(hostports, settings.tcpPorts),
    claimed: claimedPorts,
    move: (transaction, edge, before, now) => movePorts(transaction, services, edge, before, now),
  });
}
