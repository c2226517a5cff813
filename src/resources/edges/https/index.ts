import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import type { Call } from '../../../api/call.ts';
import { crudOperations, nullable } from '../../../api/crud.ts';
import { commonFields, listIn } from '../../../api/filter/fields.ts';
import type { Operation } from '../../../api/operation.ts';
import { textFieldErrors, textFields } from '../../../api/body/text-fields.ts';
import { viewFields } from '../../../api/body/view-fields.ts';
import { duplicateEntry, nameOfInstallation, wildcardOverSuffix } from '../../../errors/shared.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { certificateTroubles } from '../../acme/service.ts';
import { configurationKinds, textsToSet } from '../../configuration-kind.ts';
import { mapInTurns } from '../../../lib/map-in-turns.ts';
import { modulesFor } from '../../../modules/index.ts';
import { hostnameHolders } from '../../hostname-holders.ts';
import type { Referables } from '../../references.ts';
import type { Resource, ResourceContext } from '../../resource.ts';
import * as errors from '../errors.ts';
import { hostnameHolder, hostnameOf } from '../hostnames.ts';
import { addressFields, hostportsInput } from '../hostports.ts';
import { ModuleFields } from '../module-fields.ts';
import { moduleOperations } from '../module-operations.ts';
import { edgeAddresses, edgeModules, httpsRouteModules } from '../service.ts';
import { storedSecrets } from '../../stored-secrets.ts';
import { httpsEdgeCompiler } from './compile.ts';
import { HttpsEdgeEntry, httpsEdgeKind } from './configuration.ts';
import { routesOf, routesOfPage } from './route-queries.ts';
import { routeSecrets } from './stored-secrets.ts';
import {
  HttpsEdgeRouteCreate,
  HttpsEdgeRouteUpdate,
  HttpsEdgeRouteView,
  presentRoute,
  routeErrors,
  routeOperations,
} from './routes.ts';
import { httpsEdgeRoutes, httpsEdges, migrations } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';
import { checkModules, edgeTarget, httpsEdgeWrites } from './writes.ts';

const path = '/edges/https';

const modules = new ModuleFields(edgeTarget, ['mutual_tls', 'tls_termination']);

const HttpsEdgeView = Type.Object(
  {
    ...viewFields('HTTPS edge'),
    hostports: nullable('array', 'Where the edge is reached, as hostname:port; null when nowhere.', Type.String()),
    ...modules.views,
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
  ...modules.inputs,
};
const HttpsEdgeCreate = Type.Object(fields, { $id: 'HttpsEdgeCreate', additionalProperties: false });
const HttpsEdgeUpdate = Type.Object(fields, {
  $id: 'HttpsEdgeUpdate',
  description: '`hostports` replaces the whole list. A module that is given replaces the old one whole.',
  additionalProperties: false,
});

const misplacedFields = {
  ...addressFields('app.example.com:443'),
  ...Object.fromEntries(
    modulesFor('https_route').map(({ name }) => [name, 'It belongs to a route: POST /edges/https/{id}/routes.']),
  ),
};
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
  errors.httpsEndsUpstream,
  ...modules.errors,
];

function httpsEdgeOperations(context: ResourceContext): readonly Operation[] {
  const { store, referables, services } = context;
  const writes = httpsEdgeWrites(context);
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
    filterFields: {
      ...commonFields,
      hostports: listIn('hostports'),
    },
    takesNewId: true,
    view: HttpsEdgeView,
    createBody: HttpsEdgeCreate,
    updateBody: HttpsEdgeUpdate,
    fieldErrors: textFieldErrors(errors.edgeDescriptionTooLong, errors.edgeMetadataTooLong),
    misplacedFields,
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
      // One of an older release has none.
      const change = { ...textsToSet(wanted), hostports, modules: httpsEdges.complete(wanted).modules };
      if (current === undefined) return writes.create(transaction, caller.accountId, change, id);
      const isKept = isDeepStrictEqual(hostports, current.hostports);
      return writes.update(transaction, current, { ...change, hostports: isKept ? undefined : hostports });
    },
    warning: ({ account_id, hostports }) =>
      services.get(certificateTroubles).warningFor(account_id, hostports.map(hostnameOf)),
    // An edge is shown with its routes, so a tag of it stands for them too.
    etagState: async (queries, edge) => ({ edge, routes: await digestOf(await routesOf(queries, edge)) }),
    mayBeLarge: true,
    async presentAll(edges, call) {
      const routes = await routesOfPage(store.queries, edges);
      const shown: object[] = [];
      for (const edge of edges) {
        const own = await mapInTurns(routes.get(edge.id) ?? [], (route) => presentRoute(route, referables, call));
        shown.push(present(edge, own, referables, call));
      }
      return shown;
    },
  });
  const ofModules = moduleOperations(context, {
    target: edgeTarget,
    table: httpsEdges,
    path: `${path}/{id}`,
    noun: 'HTTPS edge',
    notFoundError: errors.edgeNotFound,
    title: 'HTTPS Edge',
    name: 'HttpsEdge',
    tag: 'HTTPS edges',
    notOffered: modules.notOffered,
    together: { check: checkModules, errors: [errors.httpsEndsUpstream] },
  });
  return [...crud, ...ofModules, ...routeOperations(context)];
}

/** A text that is another one for other routes; an edge may have very many. */
async function digestOf(routes: readonly HttpsEdgeRoute[]): Promise<string> {
  const digest = createHash('sha256');
  await mapInTurns(routes, (route) => digest.update(`${JSON.stringify(route)}\n`));
  return digest.digest('base64');
}

function present(edge: HttpsEdge, routes: readonly object[], referables: Referables, call: Call): object {
  const { id, created_at, description, metadata, hostports } = edge;
  return {
    id,
    uri: call.uri(`${path}/${id}`),
    created_at,
    description,
    metadata,
    hostports: hostports.length === 0 ? null : hostports,
    ...modules.present(edge.modules, referables, call),
    routes,
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
    HttpsEdgeEntry,
  ],
  operations: httpsEdgeOperations,
  compilers: (context) => [httpsEdgeCompiler(context)],
  provide(context) {
    const { store, services } = context;
    services.add(configurationKinds, httpsEdgeKind(context, [...writeErrors, ...routeErrors]));
    services.add(hostnameHolders, hostnameHolder('https_edge_hostnames', 'https_edges'));
    services.add(storedSecrets, routeSecrets(context));
    services.add(edgeAddresses, {
      prefix: httpsEdges.prefix,
      path,
      proto: 'https',
      page: async (accountId, page) => store.page(httpsEdges, accountId, page),
    });
    services.add(edgeModules, {
      prefix: httpsEdges.prefix,
      find: async (accountId, id) => (await store.find(httpsEdges, accountId, id))?.modules,
    });
    services.provide(httpsRouteModules, {
      prefix: httpsEdgeRoutes.prefix,
      // Those of its edge hold for it too.
      find: async (accountId, id) => {
        const route = await store.find(httpsEdgeRoutes, accountId, id);
        return route && { ...(await store.find(httpsEdges, accountId, route.edge_id))?.modules, ...route.modules };
      },
    });
  },
};
