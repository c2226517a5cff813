import { asRun } from '../../../modules/index.ts';
import type { Compiler } from '../../../publisher/compiler.ts';
import type { TlsEndpointEntry } from '../../../snapshot/contract.ts';
import type { Services } from '../../services.ts';
import { documentAt } from '../../visited-entries.ts';
import type { VisitedEntries } from '../../visited-entries.ts';
import { loadAuthorities, withAuthorities } from '../authorities.ts';
import type { Edge } from '../edge-writes.ts';
import { hostnameOf } from '../hostnames.ts';
import { tlsEdges } from './table.ts';
import { endsHere } from './writes.ts';

export function tlsEdgeCompiler(services: Services): Compiler {
  return {
    kind: 'tls_endpoint',
    affectedIds: ({ kind, id }) => (kind === tlsEdges.kind ? [id] : []),
    async load(queries, ids) {
      const edges = await tlsEdges.loadMany(queries, ids);
      const pems = await loadAuthorities(services, queries, edges);
      return edges.map((edge) => toEntry(edge, pems));
    },
  };
}

/** An edge as it is or was. */
export function visitedTlsEdges(services: Services): VisitedEntries {
  return {
    prefix: tlsEdges.prefix,
    changeKinds: [tlsEdges.kind],
    async load(queries, accountId, id, past) {
      const edge = await documentAt(tlsEdges, queries, accountId, id, past);
      return edge && toEntry(edge, await loadAuthorities(services, queries, [edge]));
    },
  };
}

function toEntry({ id, account_id, hostports, modules }: Edge, pems: ReadonlyMap<string, string>): TlsEndpointEntry {
  return {
    kind: 'tls_endpoint',
    id,
    accountId: account_id,
    names: hostports.map(hostnameOf),
    modules: withAuthorities(asRun(modules, 'tls_edge'), pems),
    ...(endsHere(modules) && { termination: {} }),
  };
}
