import { chunks } from '../../../lib/chunks.ts';
import { Pace } from '../../../lib/pace.ts';
import { boundedSql, readBounded } from '../../../store/bounded-rows.ts';
import type { Queries } from '../../../store/database.ts';
import type { Page, Stored } from '../../../store/table.ts';
import type { Past } from '../../configuration-kind.ts';
import { httpsEdgeRoutes } from './table.ts';
import type { HttpsEdgeRoute } from './table.ts';

/** Routes that are read at once, in a few milliseconds on SQLite, unless they are long. */
const routesAtOnce = 512;
/** Edges in one statement. */
const edgesAtOnce = 64;
/** `~` comes after every character of an id. */
const afterAllIds = '~';
const longTexts = {
  table: 'https_edge_routes',
  columns: ['document', 'edge_id', 'id'],
  long: ['document'],
} as const;
const following = boundedSql({
  ...longTexts,
  key: ['edge_id', 'id'],
  order: 'ASC',
  where: 'account_id = $1 AND (edge_id, id) > ($2, $3) AND edge_id <= $4',
  limit: routesAtOnce,
});
const page = boundedSql({
  ...longTexts,
  key: ['id'],
  order: 'DESC',
  where: 'account_id = $1 AND edge_id = $2 AND id < $3',
  limit: '$4',
});
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
          : await readRoutesOf(queries, accountId, some);
      for (const route of read) routes.push(route);
      if (pace.isDue) await pace.giveWay();
    }
  }
  return byEdge(routes);
}

/** By edge, as they were. */
export async function pastRoutes(queries: Queries, edges: readonly Stored[], past: Past): Promise<RoutesByEdge> {
  const today = await routesOfMany(queries, edges);
  const changed = past.changedOf(httpsEdgeRoutes.kind, 'edge_id');
  const routes = new Map<string, readonly HttpsEdgeRoute[]>();
  for (const { id } of edges) {
    const same = await past.unchanged(today.get(id) ?? []);
    // Documents of this kind are routes.
    const others = (changed.get(id) ?? []).map((route) => httpsEdgeRoutes.complete(route as HttpsEdgeRoute));
    routes.set(id, [...same, ...others]);
  }
  return routes;
}

/** Newest first. */
export async function pageOfRoutes(
  queries: Queries,
  { account_id, id }: Stored,
  { beforeId = afterAllIds, limit }: Page,
): Promise<readonly HttpsEdgeRoute[]> {
  const routes: HttpsEdgeRoute[] = [];
  await readBounded(
    queries,
    {
      atOnce: limit,
      wanted: limit,
      statement: (last, most) => [page, [account_id, id, last?.[2] ?? beforeId, most]],
    },
    (row) => routes.push(httpsEdgeRoutes.parse(row)),
  );
  return routes;
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
  await readBounded(
    queries,
    {
      atOnce: routesAtOnce,
      statement: (last) => [following, [accountId, last?.[1] ?? firstEdge, last?.[2] ?? '', lastEdge]],
    },
    (row) => routes.push(httpsEdgeRoutes.parse(row)),
  );
  return routes;
}

/** Reads the routes of several edges, in the order of their creation. */
async function readRoutesOf(
  queries: Queries,
  accountId: string,
  edges: readonly string[],
): Promise<readonly HttpsEdgeRoute[]> {
  const routes: HttpsEdgeRoute[] = [];
  const places = edges.map((_, at) => `$${at + 3}`).join(', ');
  const where = `account_id = $1 AND id > $2 AND edge_id IN (${places})`;
  const sql = boundedSql({ ...longTexts, key: ['id'], order: 'ASC', where, limit: routesAtOnce });
  await readBounded(
    queries,
    { atOnce: routesAtOnce, statement: (last) => [sql, [accountId, last?.[2] ?? '', ...edges]] },
    (row) => routes.push(httpsEdgeRoutes.parse(row)),
  );
  return routes;
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
    const places = ids.map((_, at) => `$${at + 2}`).join(', ');
    const sql = `SELECT edge_id, COUNT(*) FROM https_edge_routes WHERE account_id = $1 AND edge_id IN (${places}) GROUP BY edge_id`;
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

function byEdge(routes: readonly HttpsEdgeRoute[]): RoutesByEdge {
  return Map.groupBy(routes, ({ edge_id }) => edge_id);
}
