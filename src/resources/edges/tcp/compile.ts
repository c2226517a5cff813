import type { Compiler } from '../../../publisher/compiler.ts';
import type { TcpEdgeEntry } from '../../../snapshot/contract.ts';
import { claimedPorts } from './ports.ts';
import { tcpEdges } from './table.ts';
import type { TcpEdge } from './table.ts';

export const tcpEdgeCompiler: Compiler = {
  kind: 'tcp_edge',
  affectedIds: ({ kind, id }) => (kind === tcpEdges.kind ? [id] : []),
  async load(queries, ids) {
    const documents = await tcpEdges.loadMany(queries, ids);
    return documents.map(toEntry);
  },
};

function toEntry({ id, account_id, hostports, modules }: TcpEdge): TcpEdgeEntry {
  const ports = claimedPorts(hostports).map(({ key }) => key);
  return { kind: 'tcp_edge', id, accountId: account_id, ports, modules };
}
