import { Type } from 'typebox';

import type { Call } from '../../../api/call.ts';
import { crudOperations, nullable } from '../../../api/crud.ts';
import type { Operation } from '../../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../../api/text-fields.ts';
import { duplicateEntry } from '../../../errors/shared.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { hostnameHolders } from '../../hostname-holders.ts';
import type { Referables } from '../../references.ts';
import type { Resource, ResourceContext } from '../../resource.ts';
import * as errors from '../errors.ts';
import { hostportsInput } from '../hostports.ts';
import { httpsEdgeModules, httpsRouteModules } from '../service.ts';
import { httpsEdgeCompiler } from './compile.ts';
import { acceptHostnames, claimedHostnames, hostnameHolder, moveHostnames } from './hostnames.ts';
import { routesOf, routesOfPage } from './route-queries.ts';
import {
  HttpsEdgeRouteCreate,
  HttpsEdgeRouteUpdate,
  HttpsEdgeRouteView,
  presentRoute,
  removeRoute,
  routeOperations,
} from './routes.ts';
import { httpsEdgeRoutes, httpsEdges, migrations } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';

const path = '/edges/https';

const HttpsEdgeView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the HTTPS edge.' }),
    uri: Type.String({ description: "URI of this edge's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
    hostports: nullable('array', 'Where the edge is reached, as hostname:port; null when nowhere.', Type.String()),
    mutual_tls: Type.Null({ description: 'Not offered; always null.' }),
    tls_termination: Type.Null({ description: 'Not offered; always null.' }),
    routes: Type.Array(Type.Ref('HttpsEdgeRoute'), { description: 'The routes of the edge, oldest first.' }),
  },
  { $id: 'HttpsEdge' },
);
const fields = {
  ...textFields,
  hostports: hostportsInput(
    'Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on. A host name ' +
      'belongs to one edge of the installation; its first label may be "*", which stands for any one label.',
    'app.example.com:443',
  ),
};
const HttpsEdgeCreate = Type.Object(fields, { $id: 'HttpsEdgeCreate', additionalProperties: false });
const HttpsEdgeUpdate = Type.Object(fields, {
  $id: 'HttpsEdgeUpdate',
  description: '`hostports` replaces the whole list.',
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
];

function httpsEdgeOperations(context: ResourceContext): readonly Operation[] {
  const { store, services, referables, settings } = context;
  const crud = crudOperations({
    rights: { read: 'everyone', write: 'everyone' },
    store,
    table: httpsEdges,
    path,
    noun: 'HTTPS edge',
    plural: 'HTTPS edges',
    notFoundError: errors.edgeNotFound,
    name: 'HttpsEdges',
    tag: 'HTTPS edges',
    listKey: 'https_edges',
    view: HttpsEdgeView,
    createBody: HttpsEdgeCreate,
    updateBody: HttpsEdgeUpdate,
    fieldErrors: textFieldErrors(errors.edgeDescriptionTooLong, errors.edgeMetadataTooLong),
    errors: { create: writeErrors, update: writeErrors, delete: [] },
    async create(transaction, { caller, body }) {
      const claims = acceptHostnames(body.hostports ?? [], settings.httpsPort);
      const hostports = claims.map(({ hostport }) => hostport);
      const first = { ...httpsEdges.newDocument(caller.accountId), hostports };
      const edge = await httpsEdges.insert(transaction, withText(first, body));
      await moveHostnames(transaction, services, edge, [], claims);
      return edge;
    },
    async update(transaction, { body }, previous) {
      const held = claimedHostnames(previous.hostports);
      const claims = body.hostports === undefined ? held : acceptHostnames(body.hostports, settings.httpsPort);
      const changed = { ...previous, hostports: claims.map(({ hostport }) => hostport) };
      const edge = await httpsEdges.update(transaction, previous, withText(changed, body));
      if (edge !== previous) await moveHostnames(transaction, services, edge, held, claims);
      return edge;
    },
    async remove(transaction, _call, edge) {
      for (const route of await routesOf(transaction, edge)) await removeRoute(transaction, referables, route);
      await httpsEdges.delete(transaction, edge);
    },
    // An edge is shown with its routes, so a tag of it stands for them too.
    etagState: async (queries, edge) => ({ edge, routes: await routesOf(queries, edge) }),
    async presentAll(edges, call) {
      const routes = await routesOfPage(store.queries, edges);
      return edges.map((edge) => present(edge, routes.get(edge.id) ?? [], referables, call));
    },
  });
  return [...crud, ...routeOperations(context)];
}

function present(edge: HttpsEdge, routes: readonly HttpsEdgeRoute[], referables: Referables, call: Call): object {
  const { id, created_at, description, metadata, hostports } = edge;
  return {
    id,
    uri: call.uri(`${path}/${id}`),
    created_at,
    description,
    metadata,
    hostports: hostports.length === 0 ? null : hostports,
    mutual_tls: null,
    tls_termination: null,
    routes: routes.map((route) => presentRoute(route, referables, call)),
  };
}

export const httpsEdgesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [
    HttpsEdgeView,
    HttpsEdgeCreate,
    HttpsEdgeUpdate,
    HttpsEdgeRouteView,
    HttpsEdgeRouteCreate,
    HttpsEdgeRouteUpdate,
  ],
  operations: httpsEdgeOperations,
  compilers: () => [httpsEdgeCompiler],
  provide({ store, services }) {
    services.add(hostnameHolders, hostnameHolder);
    // An edge has none of its own; its routes have.
    services.provide(httpsEdgeModules, {
      prefix: httpsEdges.prefix,
      find: async (accountId, id) => (await store.find(httpsEdges, accountId, id)) && {},
    });
    services.provide(httpsRouteModules, {
      prefix: httpsEdgeRoutes.prefix,
      find: async (accountId, id) => (await store.find(httpsEdgeRoutes, accountId, id))?.modules,
    });
  },
};
