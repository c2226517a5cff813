import { mapInTurns } from '../../../lib/map-in-turns.ts';
import type { Compiler } from '../../../publisher/compiler.ts';
import type { HttpsEdgeEntry, ModuleSettings, RouteEntry } from '../../../snapshot/contract.ts';
import type { Change } from '../../../store/write/change-log.ts';
import type { Queries } from '../../../store/database.ts';
import { asRun, openSecrets } from '../../../modules/index.ts';
import type { ResourceContext } from '../../resource.ts';
import { documentAt } from '../../visited-entries.ts';
import type { VisitedEntries } from '../../visited-entries.ts';
import { loadAuthorities, withAuthorities } from '../authorities.ts';
import type { StoredModules } from '../module-fields.ts';
import { pastRoutes, routesOfMany } from './route-queries.ts';
import { httpsEdgeRoutes, httpsEdges } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';
import { target } from './writes.ts';

type OpenSecret = (sealed: string, context: string) => string;

/** An edge in the snapshot has its routes in it, and changes with each of them. */
export function httpsEdgeCompiler({ services, sealer }: Pick<ResourceContext, 'services' | 'sealer'>): Compiler {
  return {
    kind: 'https_edge',
    mayTakeLong: true,
    affectedIds: touchedBy,
    async load(queries, ids) {
      const edges = await httpsEdges.loadMany(queries, ids);
      const routes = ids === undefined ? await allRoutes(queries) : await routesOfMany(queries, edges);
      const pems = await loadAuthorities(services, queries, edges);
      return toEntries(edges, routes, pems, (sealed, context) => sealer.open(sealed, context));
    },
  };
}

/** An edge with its routes, as it is or was. */
export function visitedHttpsEdges({ services, sealer }: Pick<ResourceContext, 'services' | 'sealer'>): VisitedEntries {
  return {
    prefix: httpsEdges.prefix,
    changeKinds: [httpsEdges.kind, httpsEdgeRoutes.kind],
    async load(queries, accountId, id, past) {
      const edge = await documentAt(httpsEdges, queries, accountId, id, past);
      if (edge === undefined) return undefined;
      const routes = await (past === undefined ? routesOfMany(queries, [edge]) : pastRoutes(queries, [edge], past));
      const pems = await loadAuthorities(services, queries, [edge]);
      return (await toEntries([edge], routes, pems, (sealed, context) => sealer.open(sealed, context)))[0];
    },
  };
}

function touchedBy({ kind, id, before, after }: Change): readonly string[] {
  if (kind === httpsEdges.kind) return [id];
  if (kind !== httpsEdgeRoutes.kind) return [];
  // Every stored route names its edge.
  const { edge_id } = JSON.parse(after ?? before ?? '{}') as HttpsEdgeRoute;
  return [edge_id];
}

async function allRoutes(queries: Queries): Promise<ReadonlyMap<string, readonly HttpsEdgeRoute[]>> {
  return Map.groupBy(await httpsEdgeRoutes.loadMany(queries, undefined), ({ edge_id }) => edge_id);
}

async function toEntries(
  edges: readonly HttpsEdge[],
  routes: ReadonlyMap<string, readonly HttpsEdgeRoute[]>,
  pems: ReadonlyMap<string, string>,
  open: OpenSecret,
): Promise<readonly HttpsEdgeEntry[]> {
  const entries: HttpsEdgeEntry[] = [];
  for (const { id, account_id, hostports, modules } of edges) {
    const ofEdge = Object.keys(modules).length === 0 ? undefined : withAuthorities(asOfEdge(modules), pems);
    const own = await mapInTurns(routes.get(id) ?? [], (route) => toRoute(route, ofEdge, open));
    entries.push({ kind: 'https_edge', id, accountId: account_id, hostports, routes: own });
  }
  return entries;
}

/** Every route has the modules of its edge: a process of an older release then checks them too, or serves nothing. */
function toRoute(
  { id, match_type, match, modules }: HttpsEdgeRoute,
  ofEdge: ModuleSettings | undefined,
  open: OpenSecret,
): RouteEntry {
  const own = withSecrets(asRun(modules, target), open);
  return { id, matchType: match_type, match, modules: ofEdge === undefined ? own : { ...ofEdge, ...own } };
}

/** Routes may have a limit of their own beside that of the edge. */
function asOfEdge({ rate_limit, ...others }: StoredModules): StoredModules {
  return rate_limit === undefined ? others : { ...others, edge_rate_limit: rate_limit };
}

/** With a secret that does not open, the gateway cannot build the module, and closes the edge. */
function withSecrets(modules: StoredModules, open: OpenSecret): ModuleSettings {
  try {
    return openSecrets(modules, open);
  } catch {
    return modules;
  }
}
