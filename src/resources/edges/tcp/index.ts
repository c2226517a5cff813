import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import type { Call } from '../../../api/call.ts';
import { crudOperations, nullable } from '../../../api/crud.ts';
import { commonFields, listIn } from '../../../api/filter/fields.ts';
import type { Operation } from '../../../api/operation.ts';
import { textFieldErrors, textFields } from '../../../api/body/text-fields.ts';
import { viewFields } from '../../../api/body/view-fields.ts';
import { duplicateEntry } from '../../../errors/shared.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { configurationKinds, textsToSet } from '../../configuration-kind.ts';
import { portHolders } from '../../port-holders.ts';
import type { Referables } from '../../references.ts';
import type { Resource, ResourceContext } from '../../resource.ts';
import { startNotices } from '../../start-notices.ts';
import * as errors from '../errors.ts';
import { addressFields, hostportsInput } from '../hostports.ts';
import { ModuleFields } from '../module-fields.ts';
import { moduleOperations } from '../module-operations.ts';
import { edgeAddresses, edgeModules } from '../service.ts';
import { createTcpEdgeCompiler } from './compile.ts';
import { TcpEdgeEntry, tcpEdgeKind } from './configuration.ts';
import { portHolder } from './ports.ts';
import { migrations, tcpEdges } from './table.ts';
import type { TcpEdge } from './table.ts';
import { closedPortsOf, describeClosedEdges } from './unopened-ports.ts';
import { target, tcpEdgeWrites } from './writes.ts';

const path = '/edges/tcp';
const modules = new ModuleFields(target, ['backend', 'ip_restriction', 'policy', 'traffic_policy']);

const TcpEdgeView = Type.Object(
  {
    ...viewFields('TCP edge'),
    hostports: nullable('array', 'Where the edge is reached, as host:port; null when nowhere.', Type.String()),
    ...modules.views,
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
  { $id: 'TcpEdge' },
);
const fields = {
  ...textFields,
  hostports: hostportsInput(
    'Where the edge is reached, as host:port. The gateway listens on the port; a port belongs to one edge of the ' +
      'installation and must be among those set aside for TCP edges.',
    'tcp.example.com:10022',
  ),
  ...modules.inputs,
};
const TcpEdgeCreate = Type.Object(fields, { $id: 'TcpEdgeCreate', additionalProperties: false });
const TcpEdgeUpdate = Type.Object(fields, {
  $id: 'TcpEdgeUpdate',
  description: '`hostports` replaces the whole list. A module that is given replaces the old one whole.',
  additionalProperties: false,
});

const writeErrors: readonly ErrorDefinition[] = [
  errors.edgeDescriptionTooLong,
  errors.edgeMetadataTooLong,
  errors.invalidHostport,
  errors.invalidPort,
  errors.hostportTaken,
  errors.tooManyHostports,
  duplicateEntry,
  errors.portNotOffered,
  errors.duplicatePort,
  ...modules.errors,
];

function tcpEdgeOperations(context: ResourceContext): readonly Operation[] {
  const { store, referables, settings, services } = context;
  const writes = tcpEdgeWrites(context);
  const closedPorts = (edge: TcpEdge) => closedPortsOf(edge, settings.tcpPorts, services);
  const shownPorts = (edge: TcpEdge) => {
    const unopened_ports = closedPorts(edge);
    return unopened_ports.length === 0 ? {} : { unopened_ports };
  };
  const names = { noun: 'TCP edge', notFoundError: errors.edgeNotFound, tag: 'TCP edges' } as const;
  const crud = crudOperations({
    plural: 'TCP edges',
    rights: { read: 'everyone', write: 'everyone' },
    ...names,
    store,
    table: tcpEdges,
    path,
    name: 'TcpEdges',
    listKey: 'tcp_edges',
    filterFields: {
      ...commonFields,
      hostports: listIn('hostports'),
    },
    takesNewId: true,
    view: TcpEdgeView,
    createBody: TcpEdgeCreate,
    updateBody: TcpEdgeUpdate,
    fieldErrors: textFieldErrors(errors.edgeDescriptionTooLong, errors.edgeMetadataTooLong),
    misplacedFields: addressFields('example.com:10022'),
    errors: { create: writeErrors, update: writeErrors, delete: [] },
    create(transaction, { caller, body, newId }) {
      const change = { ...body, hostports: body.hostports, modules: modules.accept(body, referables) };
      return writes.create(transaction, caller.accountId, change, newId);
    },
    update: (transaction, { body }, previous) =>
      writes.update(transaction, previous, {
        ...body,
        hostports: body.hostports,
        modules: { ...previous.modules, ...modules.accept(body, referables) },
      }),
    remove: (transaction, _call, edge) => writes.remove(transaction, edge),
    restore(transaction, { caller }, wanted, current) {
      const { hostports, id } = wanted;
      const change = { ...textsToSet(wanted), hostports, modules: wanted.modules };
      if (current === undefined) return writes.create(transaction, caller.accountId, change, id);
      const isKept = isDeepStrictEqual(hostports, current.hostports);
      return writes.update(transaction, current, { ...change, hostports: isKept ? undefined : hostports });
    },
    present: (edge, call) => ({ ...present(edge, referables, call), ...shownPorts(edge) }),
    afterWrite: (edge, call) => {
      for (const { port, reason } of closedPorts(edge)) {
        call.setHeader('Gatehouse-Warning', `port ${port} is not open: ${reason}`);
      }
      return shownPorts(edge);
    },
  });
  const ofModules = moduleOperations(context, {
    ...names,
    target,
    table: tcpEdges,
    path: `${path}/{id}`,
    title: 'TCP Edge',
    name: 'TcpEdge',
    notOffered: modules.notOffered,
  });
  return [...crud, ...ofModules];
}

function present(edge: TcpEdge, referables: Referables, call: Call): object {
  const { id, created_at, description, metadata, hostports } = edge;
  return {
    id,
    uri: call.uri(`${path}/${id}`),
    created_at,
    description,
    metadata,
    hostports: hostports.length === 0 ? null : hostports,
    ...modules.present(edge.modules, referables, call),
  };
}

export const tcpEdgesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [TcpEdgeView, TcpEdgeCreate, TcpEdgeUpdate, TcpEdgeEntry],
  operations: tcpEdgeOperations,
  compilers: ({ settings }) => [createTcpEdgeCompiler(settings.tcpPorts)],
  provide(context) {
    const { store, services, settings } = context;
    services.add(configurationKinds, tcpEdgeKind(context, writeErrors));
    services.add(startNotices, () => describeClosedEdges(store, settings.tcpPorts));
    services.add(portHolders, portHolder);
    services.add(edgeAddresses, {
      prefix: tcpEdges.prefix,
      path,
      proto: 'tcp',
      page: async (accountId, page) => store.page(tcpEdges, accountId, page),
    });
    services.add(edgeModules, {
      prefix: tcpEdges.prefix,
      find: async (accountId, id) => (await store.find(tcpEdges, accountId, id))?.modules,
    });
  },
};
