import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { parseHostPort } from '../../../lib/host-port.ts';
import type { ConfigurationKind } from '../../configuration-kind.ts';
import type { ResourceContext } from '../../resource.ts';
import { edgeEntrySchema, edgeKind } from '../edge-entries.ts';
import { hostportsInput } from '../hostports.ts';
import { tcpEdges } from './table.ts';
import { target, tcpEdgeWrites } from './writes.ts';

export const TcpEdgeEntry = edgeEntrySchema(
  'TcpEdgeEntry',
  'tcp_edges',
  target,
  hostportsInput('Where the edge is reached, as host:port.', 'tcp.example.com:10022'),
);

export function tcpEdgeKind(context: ResourceContext, errors: readonly ErrorDefinition[]): ConfigurationKind {
  return edgeKind({
    kind: 'tcp_edges',
    noun: 'TCP edge',
    target,
    table: tcpEdges,
    schema: TcpEdgeEntry,
    errors,
    writes: tcpEdgeWrites(context),
    referables: context.referables,
    spell: (hostport) => hostport,
    claimOf: portOf,
  });
}

function portOf(hostport: string): string {
  const parsed = parseHostPort(hostport);
  return parsed.ok ? String(parsed.port) : hostport;
}
