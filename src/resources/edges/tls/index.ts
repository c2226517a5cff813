import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { textFieldErrors, textFields } from '../../../api/body/text-fields.ts';
import { viewFields } from '../../../api/body/view-fields.ts';
import type { Call } from '../../../api/call.ts';
import { crudOperations, nullable } from '../../../api/crud.ts';
import { commonFields, listIn } from '../../../api/filter/fields.ts';
import type { Operation } from '../../../api/operation.ts';
import { duplicateEntry, nameOfInstallation, wildcardOverSuffix } from '../../../errors/shared.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { certificateTroubles } from '../../acme/service.ts';
import { configurationKinds, textsToSet } from '../../configuration-kind.ts';
import { hostnameHolders } from '../../hostname-holders.ts';
import type { Referables } from '../../references.ts';
import type { Resource, ResourceContext } from '../../resource.ts';
import type { Edge } from '../edge-writes.ts';
import * as errors from '../errors.ts';
import { hostnameHolder, hostnameOf } from '../hostnames.ts';
import { addressFields, hostportsInput } from '../hostports.ts';
import { ModuleFields } from '../module-fields.ts';
import { moduleOperations } from '../module-operations.ts';
import { edgeAddresses, edgeModules } from '../service.ts';
import { tlsEdgeCompiler } from './compile.ts';
import { TlsEdgeEntry, tlsEdgeKind } from './configuration.ts';
import { migrations, tlsEdges } from './table.ts';
import { checkModules, endsHere, target, tlsEdgeWrites } from './writes.ts';

const path = '/edges/tls';
const modules = new ModuleFields(target, [
  'backend',
  'ip_restriction',
  'mutual_tls',
  'tls_termination',
  'policy',
  'traffic_policy',
]);

const TlsEdgeView = Type.Object(
  {
    ...viewFields('TLS edge'),
    hostports: nullable('array', 'Where the edge is reached, as hostname:port; null when nowhere.', Type.String()),
    ...modules.views,
  },
  { $id: 'TlsEdge' },
);
const fields = {
  ...textFields,
  hostports: hostportsInput(
    'Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on: connections are told ' +
      'apart by the name in their TLS handshake. A host name belongs to one edge of the installation; its first label may be ' +
      '"*", which stands for any one label.',
    'db.example.com:443',
  ),
  ...modules.inputs,
};
const TlsEdgeCreate = Type.Object(fields, {
  $id: 'TlsEdgeCreate',
  description: 'Without the module `tls_termination` TLS is passed on to the backend unread.',
  additionalProperties: false,
});
const TlsEdgeUpdate = Type.Object(fields, {
  $id: 'TlsEdgeUpdate',
  description: '`hostports` replaces the whole list. A module that is given replaces the old one whole.',
  additionalProperties: false,
});

const writeErrors: readonly ErrorDefinition[] = [
  errors.edgeDescriptionTooLong,
  errors.edgeMetadataTooLong,
  errors.invalidHostport,
  errors.invalidPort,
  errors.wrongHttpsPort,
  errors.hostportTaken,
  errors.tooManyHostports,
  duplicateEntry,
  errors.hostnameOverlap,
  nameOfInstallation,
  wildcardOverSuffix,
  errors.certificatesUnread,
  ...modules.errors,
];

function tlsEdgeOperations(context: ResourceContext): readonly Operation[] {
  const { store, referables, services } = context;
  const writes = tlsEdgeWrites(context);
  const names = { noun: 'TLS edge', notFoundError: errors.edgeNotFound, tag: 'TLS edges' } as const;
  const crud = crudOperations({
    plural: 'TLS edges',
    rights: { read: 'everyone', write: 'everyone' },
    ...names,
    store,
    table: tlsEdges,
    path,
    name: 'TlsEdges',
    listKey: 'tls_edges',
    filterFields: { ...commonFields, hostports: listIn('hostports') },
    takesNewId: true,
    view: TlsEdgeView,
    createBody: TlsEdgeCreate,
    updateBody: TlsEdgeUpdate,
    fieldErrors: textFieldErrors(errors.edgeDescriptionTooLong, errors.edgeMetadataTooLong),
    misplacedFields: addressFields('db.example.com:443'),
    errors: { create: writeErrors, update: writeErrors, delete: [] },
    create: (transaction, { caller, body, newId }) =>
      writes.create(
        transaction,
        caller.accountId,
        { ...body, hostports: body.hostports, modules: modules.accept(body, referables) },
        newId,
      ),
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
    // What is passed on needs no certificate here.
    warning: async ({ account_id, hostports, modules: set }) =>
      endsHere(set) ? services.get(certificateTroubles).warningFor(account_id, hostports.map(hostnameOf)) : undefined,
    present: (edge, call) => present(edge, referables, call),
  });
  const ofModules = moduleOperations(context, {
    ...names,
    target,
    table: tlsEdges,
    path: `${path}/{id}`,
    title: 'TLS Edge',
    name: 'TlsEdge',
    notOffered: modules.notOffered,
    together: { check: checkModules, errors: [errors.certificatesUnread] },
  });
  return [...crud, ...ofModules];
}

function present(edge: Edge, referables: Referables, call: Call): object {
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

export const tlsEdgesResource: Resource = {
  migrations,
  schemas: [TlsEdgeView, TlsEdgeCreate, TlsEdgeUpdate, TlsEdgeEntry],
  operations: tlsEdgeOperations,
  compilers: ({ services }) => [tlsEdgeCompiler(services)],
  provide(context) {
    const { store, services } = context;
    services.add(configurationKinds, tlsEdgeKind(context, writeErrors));
    services.add(hostnameHolders, hostnameHolder('tls_edge_hostnames', 'tls_edges'));
    services.add(edgeAddresses, {
      prefix: tlsEdges.prefix,
      path,
      proto: 'tls',
      page: async (accountId, page) => store.page(tlsEdges, accountId, page),
    });
    services.add(edgeModules, {
      prefix: tlsEdges.prefix,
      find: async (accountId, id) => (await store.find(tlsEdges, accountId, id))?.modules,
    });
  },
};
