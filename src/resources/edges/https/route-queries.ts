import { chunks } from '../../../lib/chunks.ts';
import { Pace } from '../../../lib/pace.ts';
import type { Queries } from '../../../store/database.ts';
import type { Page, Stored } from '../../../store/table.ts';
import { httpsEdgeRoutes } from './table.ts';
import type { HttpsEdgeRoute } from './table.ts';

/** Routes that are read at once, in a few milliseconds on SQLite. */
const routesAtOnce = 512;
/** Edges in one statement. */
const edgesAtOnce = 64;
/** `~` comes after every character of an id. */
const afterAllIds = '~';
const following = `
  SELECT document FROM https_edge_routes
  WHERE account_id = $1 AND (edge_id, id) > ($2, $3) AND edge_id <= $4 ORDER BY edge_id, id LIMIT ${routesAtOnce}`;
const page =
  'SELECT document FROM https_edge_routes WHERE account_id = $1 AND edge_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4';
const withPath = 'SELECT id FROM https_edge_routes WHERE edge_id = $1 AND match_path = $2';

type RoutesByEdge = ReadonlyMap<string, readonly HttpsEdgeRoute[]>;

/** In the order of their creation. */
export async function routesOf(queries: Queries, edge: Stored): Promise<readonly HttpsEdgeRoute[]> {
  return readRoutes(queries, edge.account_id, edge.id, edge.id);
}

/** By edge, for any edges; in the order of their creation. */
export async function routesOfMany(queries: Queries, edges: readonly Stored[]): Promise<RoutesByEdge> {
  const routes: HttpsEdgeRoute[] = [];
  const pace = new Pace();
  for (const [accountId, ofAccount] of Map.groupBy(edges, ({ account_id }) => account_id)) {
    for await (const some of groups(queries, accountId, ofAccount)) {
      const [first = ''] = some;
      const read =
        some.length === 1
          ? await readRoutes(queries, accountId, first, first)
          : await queryRoutes(queries, `${ofEdges('document', some)} ORDER BY id`, [accountId, ...some]);
      for (const route of read) routes.push(route);
      if (pace.isDue) await pace.giveWay();
    }
  }
  return byEdge(routes);
}

/** Newest first. */
export async function pageOfRoutes(
  queries: Queries,
  { account_id, id }: Stored,
  { beforeId = afterAllIds, limit }: Page,
): Promise<readonly HttpsEdgeRoute[]> {
  return queryRoutes(queries, page, [account_id, id, beforeId, limit]);
}

/** By edge, for the edges of one page of an account's list: newest first, none left out in between. */
export async function routesOfPage(queries: Queries, edges: readonly Stored[]): Promise<RoutesByEdge> {
  const [newest] = edges;
  const oldest = edges.at(-1);
  if (newest === undefined || oldest === undefined) return new Map();
  return byEdge(await readRoutes(queries, newest.account_id, oldest.id, newest.id));
}

export async function findRouteId(queries: Queries, edgeId: string, matchPath: string): Promise<string | undefined> {
  const [row] = await queries.all(withPath, [edgeId, matchPath]);
  return row && String(row[0]);
}

/** Reads the routes of all edges of an account from one id to another, in slices: one edge may have very many. */
async function readRoutes(
  queries: Queries,
  accountId: string,
  firstEdge: string,
  lastEdge: string,
): Promise<readonly HttpsEdgeRoute[]> {
  const routes: HttpsEdgeRoute[] = [];
  const pace = new Pace();
  for (let after = [firstEdge, '']; ;) {
    const some = await queryRoutes(queries, following, [accountId, ...after, lastEdge]);
    for (const route of some) routes.push(route);
    const last = some.at(-1);
    if (last === undefined || some.length < routesAtOnce) return routes;
    after = [last.edge_id, last.id];
    if (pace.isDue) await pace.giveWay();
  }
}

/** Ids of edges whose routes can be read together; one that has many is alone. */
async function* groups(
  queries: Queries,
  accountId: string,
  edges: readonly Stored[],
): AsyncGenerator<readonly string[]> {
  if (edges.length === 1) {
    yield edges.map(({ id }) => id);
    return;
  }
  for (const some of chunks(edges, edgesAtOnce)) {
    const ids = some.map(({ id }) => id);
    const sql = `${ofEdges('edge_id, COUNT(*)', ids)} GROUP BY edge_id`;
    let group: string[] = [];
    let size = 0;
    for (const [id, count] of await queries.all(sql, [accountId, ...ids])) {
      size += Number(count);
      if (size > routesAtOnce && group.length > 0) {
        yield group;
        group = [];
        size = Number(count);
      }
      group.push(String(id));
    }
    if (group.length > 0) yield group;
  }
}

function ofEdges(columns: string, ids: readonly string[]): string {
  const places = ids.map((_, at) => `$${at + 2}`).join(', ');
  return `SELECT ${columns} FROM https_edge_routes WHERE account_id = $1 AND edge_id IN (${places})`;
}

async function queryRoutes(
  queries: Queries,
  sql: string,
  parameters: readonly (string | number)[],
): Promise<readonly HttpsEdgeRoute[]> {
  return (await queries.all(sql, parameters)).map((row) => httpsEdgeRoutes.parse(row));
}

function byEdge(routes: readonly HttpsEdgeRoute[]): RoutesByEdge {
  return Map.groupBy(routes, ({ edge_id }) => edge_id);
}
