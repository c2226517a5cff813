import { Type } from 'typebox';

import { textFields } from '../../../api/body/text-fields.ts';
import type { TextFields } from '../../../api/body/text-fields.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { anyKey } from '../../../lib/any-key.ts';
import { mapInTurns, objectInTurns } from '../../../lib/map-in-turns.ts';
import { Pace } from '../../../lib/pace.ts';
import { sortInTurns } from '../../../lib/sort-in-turns.ts';
import { defineKind, textsOf, textsToSet } from '../../configuration-kind.ts';
import type { ConfigurationKind, EntryFields, IdOf, NameOf } from '../../configuration-kind.ts';
import { entrySchema } from '../../configuration-schema.ts';
import { dependenciesOfModules } from '../../policy-dependencies.ts';
import type { Referables } from '../../references.ts';
import type { ResourceContext } from '../../resource.ts';
import { hostportsInput, sameHostports } from '../hostports.ts';
import {
  acceptModuleEntries,
  compareModuleEntries,
  describeModules,
  moduleEntryFields,
  namesInModules,
  storedModules,
} from '../module-entries.ts';
import { toMatchPath } from './match.ts';
import { pastRoutes, routesOf, routesOfPage } from './route-queries.ts';
import { httpsEdges, matchTypes } from './table.ts';
import type { HttpsEdgeRoute, MatchType } from './table.ts';
import { edgeTarget, httpsEdgeWrites, routeWrites, target } from './writes.ts';
import type { RouteChange } from './writes.ts';

const RouteEntry = Type.Object(
  {
    ...textFields,
    match_type: Type.Optional(
      Type.Union(
        matchTypes.map((each) => Type.Literal(each)),
        { description: 'Whether the path is the start of those that match, or all of it.', default: 'path_prefix' },
      ),
    ),
    ...moduleEntryFields(target),
  },
  { additionalProperties: false },
);

export const HttpsEdgeEntry = entrySchema('HttpsEdgeEntry', 'https_edges', {
  ...textFields,
  hostports: hostportsInput('Where the edge is reached, as hostname:port.', 'app.example.com:443'),
  ...moduleEntryFields(edgeTarget),
  routes: Type.Optional(Type.Record(anyKey, RouteEntry, { description: 'Routes by their match, such as "/".' })),
});

/** The fields of a route, with its match. */
type MatchedRoute = readonly [match: string, fields: EntryFields];
type RouteFields = EntryFields & TextFields & { readonly match_type?: MatchType };

interface EdgeFields extends TextFields {
  readonly [module: string]: unknown;
  readonly hostports?: readonly string[];
  readonly routes?: Readonly<Record<string, RouteFields>>;
}

/** HTTPS edges with their routes, each of which is known by its match. */
export function httpsEdgeKind(context: ResourceContext, errors: readonly ErrorDefinition[]): ConfigurationKind {
  const { referables } = context;
  const writes = httpsEdgeWrites(context);
  const syncRoutes = routeSync(context);
  return defineKind({
    kind: 'https_edges',
    noun: 'HTTPS edge',
    scope: 'https_edge',
    table: httpsEdges,
    changeKinds: ['https_edge', 'https_edge_route'],
    schema: HttpsEdgeEntry,
    errors,
    isDeletedFirst: true,
    maps: ['routes'],
    suggestName: ({ description, hostports }) => description ?? hostports[0] ?? '',
    async describe(queries, edges, nameOf, past) {
      const routes = await (past === undefined ? routesOfPage(queries, edges) : pastRoutes(queries, edges, past));
      const described: EntryFields[] = [];
      for (const edge of edges) {
        const own = await mapInTurns(routes.get(edge.id) ?? [], (route) => describeRoute(route, nameOf));
        const modules = describeModules(edgeTarget, edge.modules, nameOf);
        described.push({ ...edgeFields(edge), ...modules, ...(await routesField(own)) });
      }
      return described;
    },
    async accept(fields) {
      const { routes = {}, hostports = [], ...texts } = read(fields);
      const lowered = hostports.map((hostport) => hostport.toLowerCase());
      return {
        ...edgeFields({ ...texts, hostports: lowered }),
        ...(await acceptModuleEntries(edgeTarget, fields)),
        ...(await routesField(await acceptRoutes(routes))),
      };
    },
    async create(write, fields) {
      const { hostports, routes = {}, ...texts } = read(fields);
      const { accountId } = write.call.caller;
      const modules = await storedModules(edgeTarget, fields, write.idOf, referables);
      const edge = await writes.create(write.transaction, accountId, { ...textsToSet(texts), hostports, modules });
      await syncRoutes(write, edge, [], routes);
      return edge;
    },
    async update(write, edge, fields) {
      const { hostports = [], routes = {}, ...texts } = read(fields);
      const changed = sameHostports(hostports, edge.hostports) ? undefined : hostports;
      const modules = await storedModules(edgeTarget, fields, write.idOf, referables);
      await writes.update(write.transaction, edge, { ...textsToSet(texts), hostports: changed, modules });
      await syncRoutes(write, edge, await routesOf(write.transaction, edge), routes);
    },
    remove: ({ transaction }, edge) => writes.remove(transaction, edge),
    compared(fields, before) {
      const [routes = {}, old = {}] = [read(fields).routes, before && read(before).routes];
      const compared = Object.entries(routes).flatMap(([match, route]) => {
        const other = compareModuleEntries(target, route, old[match]);
        return other === route ? [] : [[match, other] as const];
      });
      return compared.length === 0 ? fields : { ...fields, routes: { ...routes, ...Object.fromEntries(compared) } };
    },
    names: (fields) => [
      ...namesInModules(edgeTarget, fields),
      ...Object.values(read(fields).routes ?? {}).flatMap((route) => namesInModules(target, route)),
    ],
    async dependsOn(fields) {
      const pace = new Pace();
      const claims: string[] = [];
      for (const route of Object.values(read(fields).routes ?? {})) {
        claims.push(...(await dependenciesOfModules(target, route)));
        if (pace.isDue) await pace.giveWay();
      }
      return claims;
    },
    claims: (fields) => (read(fields).hostports ?? []).map(nameOfHostport),
    release({ transaction }, edge, fields) {
      const kept = new Set((read(fields).hostports ?? []).map(nameOfHostport));
      const staying = edge.hostports.filter((hostport) => kept.has(nameOfHostport(hostport)));
      return writes.keepOnly(transaction, edge, staying);
    },
  });
}

type KindWrite = Parameters<ConfigurationKind['create']>[0];
type Edge = Parameters<ReturnType<typeof routeWrites>['create']>[1];

/** Gives an edge exactly these routes. Those that leave go first, because others may take their paths. */
function routeSync(context: ResourceContext) {
  const { referables } = context;
  const writes = routeWrites(context);
  return async (
    { transaction, idOf }: KindWrite,
    edge: Edge,
    before: readonly HttpsEdgeRoute[],
    wanted: Readonly<Record<string, RouteFields>>,
  ): Promise<void> => {
    const unseen = new Map(await mapInTurns(before, (route) => [toMatchPath(route.match), route] as const));
    const pairs = await mapInTurns(Object.keys(wanted), (match) => {
      const route = unseen.get(toMatchPath(match));
      unseen.delete(toMatchPath(match));
      return { route, match };
    });
    for (const route of unseen.values()) await writes.remove(transaction, route);
    for (const { route, match } of pairs) {
      const change = await toChange(match, wanted[match] ?? {}, idOf, referables);
      if (route === undefined) await writes.create(transaction, edge, change);
      else await writes.update(transaction, route, change);
    }
  };
}

async function toChange(match: string, fields: RouteFields, idOf: IdOf, referables: Referables): Promise<RouteChange> {
  const { match_type = 'path_prefix' } = fields;
  return { ...textsToSet(fields), match_type, match, modules: await storedModules(target, fields, idOf, referables) };
}

function describeRoute(route: HttpsEdgeRoute, nameOf: NameOf): MatchedRoute {
  return [route.match, { ...routeFields(route), ...describeModules(target, route.modules, nameOf) }];
}

async function acceptRoutes(routes: Readonly<Record<string, RouteFields>>): Promise<readonly MatchedRoute[]> {
  const pace = new Pace();
  const accepted: MatchedRoute[] = [];
  for (const [match, fields] of Object.entries(routes)) {
    accepted.push([match, { ...routeFields(fields), ...(await acceptModuleEntries(target, fields)) }]);
    if (pace.isDue) await pace.giveWay();
  }
  return accepted;
}

function routeFields(route: TextFields & { readonly match_type?: MatchType }): EntryFields {
  const { match_type = 'path_prefix' } = route;
  return { ...textsOf(route), ...(match_type === 'path_prefix' ? {} : { match_type }) };
}

function edgeFields(edge: TextFields & { readonly hostports: readonly string[] }): EntryFields {
  return { ...textsOf(edge), ...(edge.hostports.length === 0 ? {} : { hostports: edge.hostports }) };
}

async function routesField(routes: readonly MatchedRoute[]): Promise<EntryFields> {
  if (routes.length === 0) return {};
  const byMatch = new Map(routes);
  const sorted = await sortInTurns([...byMatch.keys()]);
  // Every key was just put there.
  return { routes: await objectInTurns(sorted, (match) => byMatch.get(match)!) };
}

function nameOfHostport(hostport: string): string {
  return hostport.slice(0, hostport.lastIndexOf(':')).toLowerCase();
}

function read(fields: EntryFields): EdgeFields {
  return fields;
}
