import { mapInTurns } from '../../../lib/map-in-turns.ts';
import type { Compiler } from '../../../publisher/compiler.ts';
import type { HttpsEdgeEntry, RouteEntry } from '../../../snapshot/contract.ts';
import type { Change } from '../../../store/write/change-log.ts';
import type { Queries } from '../../../store/database.ts';
import { routesOfMany } from './route-queries.ts';
import { httpsEdgeRoutes, httpsEdges } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';

/** An edge in the snapshot has its routes in it, and changes with each of them. */
export const httpsEdgeCompiler: Compiler = {
  kind: 'https_edge',
  affectedIds: touchedBy,
  load: async (queries, ids) => (ids === undefined ? loadAll(queries) : loadSome(queries, ids)),
};

function touchedBy({ kind, id, before, after }: Change): readonly string[] {
  if (kind === httpsEdges.kind) return [id];
  if (kind !== httpsEdgeRoutes.kind) return [];
  // Every stored route names its edge.
  const { edge_id } = JSON.parse(after ?? before ?? '{}') as HttpsEdgeRoute;
  return [edge_id];
}

async function loadSome(queries: Queries, ids: readonly string[]): Promise<readonly HttpsEdgeEntry[]> {
  const edges = await httpsEdges.loadMany(queries, ids);
  const routes = await routesOfMany(queries, edges);
  return toEntries(edges, routes);
}

async function loadAll(queries: Queries): Promise<readonly HttpsEdgeEntry[]> {
  const edges = await httpsEdges.loadMany(queries, undefined);
  const routes = Map.groupBy(await httpsEdgeRoutes.loadMany(queries, undefined), ({ edge_id }) => edge_id);
  return toEntries(edges, routes);
}

async function toEntries(
  edges: readonly HttpsEdge[],
  routes: ReadonlyMap<string, readonly HttpsEdgeRoute[]>,
): Promise<readonly HttpsEdgeEntry[]> {
  const entries: HttpsEdgeEntry[] = [];
  for (const { id, account_id, hostports } of edges) {
    const own = await mapInTurns(routes.get(id) ?? [], toRoute);
    entries.push({ kind: 'https_edge', id, accountId: account_id, hostports, routes: own });
  }
  return entries;
}

function toRoute({ id, match_type, match, modules }: HttpsEdgeRoute): RouteEntry {
  return { id, matchType: match_type, match, modules };
}
