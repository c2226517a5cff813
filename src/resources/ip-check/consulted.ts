import { wrongIdKindOfSeveral } from '../../api/errors.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { PathTable } from '../../lib/path-table.ts';
import { checkRequestPath } from '../../lib/request-path.ts';
import { namedParts, openSecrets, prepareModules, referencedIds } from '../../modules/index.ts';
import type { Prepared } from '../../modules/index.ts';
import type { NamedPart } from '../../modules/index.ts';
import type { Settings } from '../../modules/module.ts';
import type { NameOf } from '../../modules/step.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import { clientAuthorities } from '../certificate-authorities/service.ts';
import { edgeNotFound, routeNotFound } from '../edges/errors.ts';
import { edgeModules, httpsRouteModules } from '../edges/service.ts';
import type { RouteModules } from '../edges/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { ResourceContext } from '../resource.ts';
import { ipCheckTarget, pathRefused, pathWithoutEdge, pathWithoutRoute } from './errors.ts';

/** A restriction that an address has to pass. */
export interface Restriction {
  readonly id: string;
  /** False: it only warns. */
  readonly enforced: boolean;
  readonly ip_policy_ids: readonly string[];
}

/** An edge or a route whose modules a visitor meets. */
export interface Door {
  readonly id: string;
  readonly modules: readonly NamedPart[];
  readonly policyIds: readonly string[];
}

/** All that stands before something. */
export interface Consulted {
  readonly restrictions: readonly Restriction[];
  /** Undefined: its routes are the doors, or it has none. */
  readonly door: Door | undefined;
  /** Undefined: it is no HTTPS edge. */
  readonly routes: readonly (Door & Omit<RouteModules, 'modules'>)[] | undefined;
  /** The edge has more routes than these. */
  readonly isCut: boolean;
  /** Names of certificate authorities. */
  readonly nameOf: NameOf;
  /** Authorities of which a certificate is asked for. */
  readonly authorityIds: readonly string[];
  /** Kept until the modules are built. */
  readonly prepared: readonly Prepared[];
}

export interface Target {
  readonly type?: RestrictionType;
  readonly edge_id?: string;
  readonly route_id?: string;
  readonly path?: string;
}

type Modules = Readonly<Record<string, Settings>>;
type Found = Omit<Consulted, 'restrictions'>;

/** Routes of an edge that are looked at: each of them may name policies of its own. */
export const mostRoutes = 200;
/** Routes among which that of a path is chosen. */
const mostChosenFrom = 20_000;

const nothing: Found = {
  door: undefined,
  routes: undefined,
  isCut: false,
  nameOf: (id) => id,
  authorityIds: [],
  prepared: [],
};

export async function consultedOf(context: ResourceContext, accountId: string, target: Target): Promise<Consulted> {
  const { type, edge_id: edgeId, route_id: routeId, path } = target;
  const isOfTraffic = edgeId !== undefined || routeId !== undefined;
  if ((type !== undefined) === isOfTraffic) throw new UserError(ipCheckTarget);
  if (path !== undefined && (edgeId === undefined || routeId !== undefined)) throw new UserError(pathWithoutEdge);
  const found =
    routeId !== undefined
      ? await ofRoute(context, accountId, routeId, edgeId)
      : edgeId !== undefined
        ? await ofEdge(context, accountId, edgeId, path)
        : nothing;
  const { store, services } = context;
  const restrictions = await services.get(ipRestrictionSearch).ofType(store.queries, accountId, type ?? 'endpoints');
  return { ...found, restrictions };
}

async function ofRoute(
  context: ResourceContext,
  accountId: string,
  id: string,
  edgeId: string | undefined,
): Promise<Found> {
  const routes = context.services.get(httpsRouteModules);
  checkKind('route_id', id, [routes.prefix]);
  const modules = await routes.find(accountId, id, edgeId);
  if (modules === undefined) throw new UserError(routeNotFound, { noun: routeNoun(edgeId), id: quote(id) });
  const { doorOf, ...authorities } = await authoritiesOf(context, modules);
  const prepared = [await prepareModules(modules, 'https_route')];
  return { ...nothing, door: doorOf(id, modules), ...authorities, prepared };
}

function routeNoun(edgeId: string | undefined): string {
  return edgeId === undefined ? 'HTTPS edge route' : `route of the edge ${quote(edgeId)}`;
}

async function ofEdge(
  context: ResourceContext,
  accountId: string,
  id: string,
  path: string | undefined,
): Promise<Found> {
  const kinds = context.services.all(edgeModules);
  checkKind(
    'edge_id',
    id,
    kinds.map(({ prefix }) => prefix),
  );
  const kind = kinds.find(({ prefix }) => hasPrefix(id, prefix));
  const modules = await kind?.find(accountId, id);
  if (modules === undefined) throw new UserError(edgeNotFound, { noun: 'edge', id: quote(id) });
  const most = path === undefined ? mostRoutes + 1 : mostChosenFrom;
  const all = await context.services.get(httpsRouteModules).ofEdge(accountId, id, most);
  if (path !== undefined && all === undefined) throw new UserError(pathWithoutEdge);
  const found = path === undefined || all === undefined ? all : [routeOf(path, all)];
  const { doorOf, ...authorities } = await authoritiesOf(context, modules);
  const shown = found?.slice(0, mostRoutes);
  const prepared = [await prepareModules(modules, 'tcp_edge')];
  for (const { modules: own } of shown ?? []) prepared.push(await prepareModules(own, 'https_route'));
  const routes = shown?.map(({ modules: own, ...route }) => ({ ...route, ...doorOf(route.id, own) }));
  const door = routes === undefined ? doorOf(id, modules) : undefined;
  return { door, routes, isCut: (found?.length ?? 0) > mostRoutes, ...authorities, prepared };
}

/** The route that a path leads to, as the gateway chooses it. */
function routeOf(path: string, routes: readonly RouteModules[]): RouteModules {
  const checked = checkRequestPath(path);
  if (!checked.ok) throw new UserError(pathRefused, { path: quote(path), reason: `it ${checked.reason}` });
  const table = new PathTable<RouteModules>();
  for (const route of routes) table.add(route.match_type, route.match, route);
  const route = table.choose(checked.matchPath);
  if (route === undefined) throw new UserError(pathWithoutRoute, { path: quote(path) });
  if (route === 'ambiguous')
    throw new UserError(pathRefused, { path: quote(path), reason: 'it can be read as that of another route' });
  return route;
}

function checkKind(field: string, id: string, prefixes: readonly string[]): void {
  if (prefixes.some((prefix) => hasPrefix(id, prefix))) return;
  const known = prefixes.map((prefix) => `${prefix}_`).join(', ');
  throw new UserError(wrongIdKindOfSeveral, { field, id: quote(id), prefixes: known });
}

/** Makes doors of stored modules, of which the edge's own name the authorities of certificates. */
async function authoritiesOf(
  { services, store, sealer }: ResourceContext,
  ofEdgeItself: Modules,
): Promise<Pick<Consulted, 'nameOf' | 'authorityIds'> & { readonly doorOf: (id: string, modules: Modules) => Door }> {
  const ids = [...referencedIds(ofEdgeItself, 'certificate_authority')];
  const authorities = services.get(clientAuthorities);
  const names = await authorities.names(store.queries, ids);
  const pems = ids.length === 0 ? '' : [...(await authorities.pems(store.queries, ids)).values()].join('');
  const doorOf = (id: string, { mutual_tls, ...others }: Modules): Door => {
    // Endpoints of agents bring their authorities along.
    const shown = mutual_tls !== undefined && ids.length > 0 ? { ...mutual_tls, ca_pem: pems } : mutual_tls;
    const stored = shown === undefined ? others : { ...others, mutual_tls: shown };
    return { id, modules: namedParts(opened(stored, sealer)), policyIds: [...referencedIds(stored, 'ip_policy')] };
  };
  return { doorOf, nameOf: (id) => names.get(id) ?? id, authorityIds: ids };
}

/** With a secret that does not open, no gateway can build the module. */
function opened(stored: Modules, sealer: ResourceContext['sealer']): Readonly<Record<string, unknown>> {
  try {
    return openSecrets(stored, (sealed, context) => sealer.open(sealed, context));
  } catch {
    return stored;
  }
}
