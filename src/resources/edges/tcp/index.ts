import { Type } from 'typebox';

import type { Call } from '../../../api/call.ts';
import { crudOperations, nullable } from '../../../api/crud.ts';
import type { Operation } from '../../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../../api/text-fields.ts';
import { duplicateEntry } from '../../../errors/shared.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import type { Referables } from '../../references.ts';
import type { Resource, ResourceContext } from '../../resource.ts';
import * as errors from '../errors.ts';
import { hostportsInput } from '../hostports.ts';
import { ModuleFields, syncReferences } from '../module-fields.ts';
import { moduleOperations } from '../module-operations.ts';
import { tcpEdgeModules } from '../service.ts';
import { tcpEdgeCompiler } from './compile.ts';
import { acceptPorts, claimedPorts } from './ports.ts';
import { migrations, ports, tcpEdges } from './table.ts';
import type { TcpEdge } from './table.ts';

const path = '/edges/tcp';
const target = 'tcp_edge';
const modules = new ModuleFields(target, ['backend', 'ip_restriction', 'policy', 'traffic_policy']);

const TcpEdgeView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the TCP edge.' }),
    uri: Type.String({ description: "URI of this edge's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
    hostports: nullable('array', 'Where the edge is reached, as host:port; null when nowhere.', Type.String()),
    ...modules.views,
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
  const { store, referables, settings } = context;
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
    view: TcpEdgeView,
    createBody: TcpEdgeCreate,
    updateBody: TcpEdgeUpdate,
    fieldErrors: textFieldErrors(errors.edgeDescriptionTooLong, errors.edgeMetadataTooLong),
    errors: { create: writeErrors, update: writeErrors, delete: [] },
    async create(transaction, { caller, body }) {
      const { hostports = [] } = body;
      const claims = acceptPorts(hostports, settings.tcpPorts);
      const first = { ...tcpEdges.newDocument(caller.accountId), hostports, modules: modules.accept(body, referables) };
      const edge = await tcpEdges.insert(transaction, withText(first, body));
      await ports.replace(transaction, edge, [], claims);
      await syncReferences(transaction, referables, target, edge);
      return edge;
    },
    async update(transaction, { body }, previous) {
      const held = claimedPorts(previous.hostports);
      const claims = body.hostports === undefined ? held : acceptPorts(body.hostports, settings.tcpPorts);
      const changed = {
        ...previous,
        hostports: claims.map(({ hostport }) => hostport),
        modules: { ...previous.modules, ...modules.accept(body, referables) },
      };
      const edge = await tcpEdges.update(transaction, previous, withText(changed, body));
      if (edge === previous) return previous;
      await ports.replace(transaction, edge, held, claims);
      await syncReferences(transaction, referables, target, edge, previous.modules);
      return edge;
    },
    async remove(transaction, _call, edge) {
      await syncReferences(transaction, referables, target, { ...edge, modules: {} }, edge.modules);
      await tcpEdges.delete(transaction, edge);
    },
    present: (edge, call) => present(edge, referables, call),
  });
  const ofModules = moduleOperations(context, {
    ...names,
    target,
    table: tcpEdges,
    path: `${path}/{id}`,
    title: 'TCP Edge',
    name: 'TcpEdge',
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
  schemas: [TcpEdgeView, TcpEdgeCreate, TcpEdgeUpdate],
  operations: tcpEdgeOperations,
  compilers: () => [tcpEdgeCompiler],
  provide({ store, services }) {
    services.provide(tcpEdgeModules, {
      prefix: tcpEdges.prefix,
      find: async (accountId, id) => (await store.find(tcpEdges, accountId, id))?.modules,
    });
  },
};
