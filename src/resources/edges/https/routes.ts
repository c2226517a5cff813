import { Type } from 'typebox';

import type { Call } from '../../../api/call.ts';
import { crudOperations } from '../../../api/crud.ts';
import type { Operation } from '../../../api/operation.ts';
import { textFieldErrors, textFields } from '../../../api/body/text-fields.ts';
import type { TextFields } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import type { Transaction } from '../../../store/write/transaction.ts';
import { prepareModules } from '../../../modules/index.ts';
import { textsToSet } from '../../configuration-kind.ts';
import type { Referables } from '../../references.ts';
import type { ResourceContext } from '../../resource.ts';
import {
  duplicateMatch,
  edgeDescriptionTooLong,
  edgeMetadataTooLong,
  edgeNotFound,
  invalidMatch,
  matchRequired,
  matchTooLong,
  routeNotFound,
  unknownMatchType,
} from '../errors.ts';
import { ModuleFields } from '../module-fields.ts';
import { moduleOperations } from '../module-operations.ts';
import { routesListOperation } from './routes-list.ts';
import { httpsEdgeRoutes, httpsEdges, matchTypes } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';
import { routeWrites, target } from './writes.ts';

const path = '/edges/https/{edge_id}/routes';
const modules = new ModuleFields(target, [
  'backend',
  'ip_restriction',
  'circuit_breaker',
  'compression',
  'request_headers',
  'response_headers',
  'webhook_verification',
  'oauth',
  'saml',
  'oidc',
  'websocket_tcp_converter',
  'user_agent_filter',
  'policy',
  'traffic_policy',
]);

const match = Type.String({
  description:
    'A path that starts with "/", max 1024 bytes, unique in the edge. A prefix covers whole segments: "/blog" matches ' +
    '"/blog", "/blog/" and "/blog/a", but not "/blogger".',
  wellFormed: true,
  examples: ['/blog'],
});
const matchTypeText =
  'How requests are compared with the match: by the start of their path, or by all of it. An exact path wins over a ' +
  'prefix, and a longer prefix over a shorter one.';
const matchType = matchTypes.map((each) => Type.Literal(each));

export const HttpsEdgeRouteView = Type.Object(
  {
    edge_id: Type.String({ description: 'Id of the edge that the route belongs to.' }),
    id: Type.String({ description: 'Unique identifier of the route.' }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    match_type: Type.String({ enum: [...matchTypes], description: matchTypeText }),
    match,
    uri: Type.String({ description: "URI of this route's resource." }),
    ...textFields,
    ...modules.views,
  },
  { $id: 'HttpsEdgeRoute' },
);
export const HttpsEdgeRouteCreate = Type.Object(
  { ...textFields, match_type: Type.Union(matchType, { description: matchTypeText }), match, ...modules.inputs },
  { $id: 'HttpsEdgeRouteCreate', additionalProperties: false },
);
export const HttpsEdgeRouteUpdate = Type.Object(
  {
    ...textFields,
    // Official clients send "" for what was not given.
    match_type: Type.Optional(Type.Union([...matchType, Type.Literal('')], { description: matchTypeText })),
    match: Type.Optional(match),
    ...modules.inputs,
  },
  {
    $id: 'HttpsEdgeRouteUpdate',
    description:
      '"" keeps the match, the match type, the description and the metadata, because an official client sends it with ' +
      'every update. A module that is given replaces the old one whole.',
    additionalProperties: false,
  },
);

/** Errors that the writes of routes can meet. */
export const routeErrors: readonly ErrorDefinition[] = [
  edgeDescriptionTooLong,
  edgeMetadataTooLong,
  duplicateMatch,
  unknownMatchType,
  matchRequired,
  invalidMatch,
  matchTooLong,
  ...modules.errors,
];

export function routeOperations(context: ResourceContext): readonly Operation[] {
  const { store, referables } = context;
  const writes = routeWrites(context);
  const shared = {
    noun: 'HTTPS edge route',
    plural: 'HTTPS edge routes',
    notFoundError: routeNotFound,
    tag: 'HTTPS edge routes',
    table: httpsEdgeRoutes,
    belongs: ({ edge_id }: HttpsEdgeRoute, { params }: Call) => edge_id === params['edge_id'],
  } as const;
  const crud = crudOperations({
    rights: { read: 'everyone', write: 'everyone' },
    ...shared,
    store,
    path,
    name: 'HttpsEdgeRoutes',
    takesNewId: true,
    isRehearsable: true,
    view: HttpsEdgeRouteView,
    createBody: HttpsEdgeRouteCreate,
    updateBody: HttpsEdgeRouteUpdate,
    fieldErrors: {
      ...textFieldErrors(edgeDescriptionTooLong, edgeMetadataTooLong),
      match: (_value, missing) => (missing ? new UserError(matchRequired) : undefined),
      match_type: (value, missing) => (missing ? undefined : new UserError(unknownMatchType, { type: quote(value) })),
    },
    errors: { create: [edgeNotFound, ...routeErrors], update: routeErrors, delete: [] },
    prepare: (body) => prepareModules(body, target),
    async create(transaction, call) {
      const { match_type, match: path_, ...rest } = call.body;
      const edge = await findEdge(transaction, call);
      const own = modules.accept(call.body, referables);
      return writes.create(transaction, edge, { ...rest, match_type, match: path_, modules: own }, call.newId);
    },
    update: (transaction, { body }, previous) =>
      writes.update(transaction, previous, {
        ...withoutEmpty(body),
        match_type: body.match_type || previous.match_type,
        match: body.match || previous.match,
        modules: { ...previous.modules, ...modules.accept(body, referables) },
      }),
    remove: (transaction, _call, route) => writes.remove(transaction, route),
    async restore(transaction, call, wanted, current) {
      const { edge_id, id, match_type, match: path_ } = wanted;
      const change = { ...textsToSet(wanted), match_type, match: path_, modules: wanted.modules };
      if (current !== undefined) return writes.update(transaction, current, change);
      const edge = await findEdge(transaction, { ...call, params: { edge_id } });
      return writes.create(transaction, edge, change, id);
    },
    present: (route, call) => presentRoute(route, referables, call),
    afterWrite: (route, call) => {
      for (const warning of modules.warnings(route.modules)) call.setHeader('Gatehouse-Warning', warning);
      return {};
    },
  });
  const ofModules = moduleOperations(context, {
    ...shared,
    target,
    path: `${path}/{id}`,
    title: 'HTTPS Edge Route',
    name: 'HttpsEdgeRoute',
    notOffered: modules.notOffered,
  });
  return [
    ...crud,
    routesListOperation(context, HttpsEdgeRouteView, (route, call) => presentRoute(route, referables, call)),
    ...ofModules,
  ];
}

/** `""` keeps a text: Python's official client sends it for every text that the caller did not give. */
function withoutEmpty({ description, metadata }: TextFields): TextFields {
  return { ...(description ? { description } : {}), ...(metadata ? { metadata } : {}) };
}

export function presentRoute(route: HttpsEdgeRoute, referables: Referables, call: Call): object {
  const { edge_id, id, created_at, match_type, match: path_, description, metadata } = route;
  return {
    edge_id,
    id,
    created_at,
    match_type,
    match: path_,
    uri: call.uri(`/edges/https/${edge_id}/routes/${id}`),
    description,
    metadata,
    ...modules.present(route.modules, referables, call),
  };
}

async function findEdge(transaction: Transaction, { caller, params: { edge_id = '' } }: Call): Promise<HttpsEdge> {
  const edge = await httpsEdges.find(transaction, caller.accountId, edge_id);
  if (edge === undefined) throw new UserError(edgeNotFound, { noun: 'HTTPS edge', id: quote(edge_id) });
  return edge;
}
