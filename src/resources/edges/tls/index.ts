import { certificateTroubles } from '../../acme/service.ts';
import { configurationKinds } from '../../configuration-kind.ts';
import { hostnameHolders } from '../../hostname-holders.ts';
import type { Resource } from '../../resource.ts';
import { visitedEntries } from '../../visited-entries.ts';
import { EdgeKind, hostnameErrors } from '../edge-kind.ts';
import * as errors from '../errors.ts';
import { hostnameHolder, hostnameOf } from '../hostnames.ts';
import { tlsEdgeCompiler, visitedTlsEdges } from './compile.ts';
import { TlsEdgeEntry, tlsEdgeKind } from './configuration.ts';
import { migrations, tlsEdges } from './table.ts';
import { checkModules, endsHere, target, tlsEdgeWrites } from './writes.ts';

const kind = new EdgeKind({
  proto: 'tls',
  table: tlsEdges,
  target,
  modules: ['backend', 'ip_restriction', 'mutual_tls', 'tls_termination', 'policy', 'traffic_policy'],
  hostports: {
    form: 'hostname:port',
    description:
      'Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on: the gateway distinguishes connections by the name in their TLS handshake. A host name belongs to one edge of the installation; its first label may be ' +
      '"*", which stands for any one label.',
    example: 'db.example.com:443',
  },
  createDescription: 'Without the module `tls_termination` TLS is passed on to the backend unread.',
  errors: [...hostnameErrors, errors.certificatesUnread],
  together: { check: checkModules, errors: [errors.certificatesUnread] },
});

export const tlsEdgesResource: Resource = {
  migrations,
  schemas: [...kind.schemas, TlsEdgeEntry],
  operations: (context) =>
    kind.operations(context, {
      writes: tlsEdgeWrites(context),
      // What is passed on needs no certificate here.
      warning: async (queries, { account_id, hostports, modules }) =>
        endsHere(modules)
          ? context.services.get(certificateTroubles).warningFor(queries, account_id, hostports.map(hostnameOf))
          : undefined,
    }),
  compilers: ({ services }) => [tlsEdgeCompiler(services)],
  provide(context) {
    kind.provide(context);
    context.services.add(configurationKinds, tlsEdgeKind(context, kind.writeErrors));
    context.services.add(hostnameHolders, hostnameHolder('tls_edge_hostnames', 'tls_edges'));
    context.services.add(visitedEntries, visitedTlsEdges(context.services));
  },
};
