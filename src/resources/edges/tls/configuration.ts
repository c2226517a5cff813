import type { ErrorDefinition } from '../../../errors/user-error.ts';
import type { ConfigurationKind } from '../../configuration-kind.ts';
import type { ResourceContext } from '../../resource.ts';
import { edgeEntrySchema, edgeKind } from '../edge-entries.ts';
import { hostnameOf } from '../hostnames.ts';
import { hostportsInput } from '../hostports.ts';
import { tlsEdges } from './table.ts';
import { target, tlsEdgeWrites } from './writes.ts';

export const TlsEdgeEntry = edgeEntrySchema(
  'TlsEdgeEntry',
  'tls_edges',
  target,
  hostportsInput('Where the edge is reached, as hostname:port.', 'db.example.com:443'),
);

export function tlsEdgeKind(context: ResourceContext, errors: readonly ErrorDefinition[]): ConfigurationKind {
  return edgeKind({
    kind: 'tls_edges',
    noun: 'TLS edge',
    target,
    table: tlsEdges,
    schema: TlsEdgeEntry,
    errors,
    writes: tlsEdgeWrites(context),
    referables: context.referables,
    spell: (hostport) => hostport.toLowerCase(),
    claimOf: (hostport) => hostnameOf(hostport).toLowerCase(),
  });
}
