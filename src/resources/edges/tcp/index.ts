import { Type } from 'typebox';

import { configurationKinds } from '../../configuration-kind.ts';
import { portHolders } from '../../port-holders.ts';
import type { Resource } from '../../resource.ts';
import { startNotices } from '../../start-notices.ts';
import { visitedEntries } from '../../visited-entries.ts';
import { EdgeKind } from '../edge-kind.ts';
import type { Edge } from '../edge-writes.ts';
import * as errors from '../errors.ts';
import { createTcpEdgeCompiler, visitedTcpEdges } from './compile.ts';
import { TcpEdgeEntry, tcpEdgeKind } from './configuration.ts';
import { portHolder } from './ports.ts';
import { migrations, tcpEdges } from './table.ts';
import { closedPortsOf, describeClosedEdges } from './unopened-ports.ts';
import { target, tcpEdgeWrites } from './writes.ts';

const kind = new EdgeKind({
  proto: 'tcp',
  table: tcpEdges,
  target,
  modules: ['backend', 'ip_restriction', 'policy', 'traffic_policy'],
  hostports: {
    form: 'host:port',
    description:
      'Where the edge is reached, as host:port. The gateway listens on the port; a port belongs to one edge of the ' +
      'installation and must be among those set aside for TCP edges.',
    example: 'tcp.example.com:10022',
  },
  views: {
    unopened_ports: Type.Optional(
      Type.Array(
        Type.Object({
          port: Type.Integer({ description: 'A port of the edge that nobody can connect to.' }),
          reason: Type.String({ description: 'Why; a port that the system refused is tried again every few seconds.' }),
        }),
        {
          description:
            'Ports that this process does not listen on. Absent: all are open, or other processes serve them.',
        },
      ),
    ),
  },
  errors: [errors.portNotOffered, errors.duplicatePort],
});

export const tcpEdgesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [...kind.schemas, TcpEdgeEntry],
  operations(context) {
    const closedPorts = (edge: Edge) => closedPortsOf(edge, context.settings.tcpPorts, context.services);
    const shownPorts = (edge: Edge) => {
      const unopened_ports = closedPorts(edge);
      return unopened_ports.length === 0 ? {} : { unopened_ports };
    };
    return kind.operations(context, {
      writes: tcpEdgeWrites(context),
      presentMore: async (_queries, edges) => edges.map(shownPorts),
      afterWrite: (edge, call) => {
        for (const { port, reason } of closedPorts(edge)) {
          call.setHeader('Gatehouse-Warning', `port ${port} is not open: ${reason}`);
        }
        return shownPorts(edge);
      },
    });
  },
  compilers: ({ settings }) => [createTcpEdgeCompiler(settings.tcpPorts)],
  provide(context) {
    const { store, services, settings } = context;
    kind.provide(context);
    services.add(configurationKinds, tcpEdgeKind(context, kind.writeErrors));
    services.add(startNotices, () => describeClosedEdges(store, settings.tcpPorts));
    services.add(portHolders, portHolder);
    services.add(visitedEntries, visitedTcpEdges(settings.tcpPorts));
  },
};
