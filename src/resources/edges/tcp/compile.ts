import { asRun } from '../../../modules/index.ts';
import type { Compiler } from '../../../publisher/compiler.ts';
import type { TcpEdgeEntry } from '../../../snapshot/contract.ts';
import { documentAt } from '../../visited-entries.ts';
import type { VisitedEntries } from '../../visited-entries.ts';
import { claimedPorts, isOffered } from './ports.ts';
import type { PortRange } from './ports.ts';
import { tcpEdges } from './table.ts';
import type { TcpEdge } from './table.ts';

/** Ports outside the range are left out: the operator has taken them away from edges. */
export function createTcpEdgeCompiler(range: PortRange): Compiler {
  return {
    kind: 'tcp_edge',
    affectedIds: ({ kind, id }) => (kind === tcpEdges.kind ? [id] : []),
    async load(queries, ids) {
      const documents = await tcpEdges.loadMany(queries, ids);
      return documents.map((edge) => toEntry(edge, range));
    },
  };
}

/** An edge as it is or was. */
export function visitedTcpEdges(range: PortRange): VisitedEntries {
  return {
    prefix: tcpEdges.prefix,
    changeKinds: [tcpEdges.kind],
    async load(queries, accountId, id, past) {
      const edge = await documentAt(tcpEdges, queries, accountId, id, past);
      return edge && toEntry(edge, range);
    },
  };
}

function toEntry({ id, account_id, hostports, modules }: TcpEdge, range: PortRange): TcpEdgeEntry {
  const ports = claimedPorts(hostports)
    .map(({ key }) => key)
    .filter((port) => isOffered(port, range));
  return { kind: 'tcp_edge', id, accountId: account_id, ports, modules: asRun(modules, 'tcp_edge') };
}
