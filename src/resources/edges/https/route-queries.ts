import type { Queries, Row } from '../../../store/database.ts';
import { rowsOf } from '../../../store/rows-of.ts';
import type { Page, Stored } from '../../../store/table.ts';
import { httpsEdgeRoutes } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';

const ofEdge = 'SELECT document FROM https_edge_routes WHERE edge_id = $1 ORDER BY id';
const ofPage = `
  SELECT document FROM https_edge_routes
  WHERE account_id = $1 AND edge_id >= $2 AND edge_id <= $3 ORDER BY edge_id, id`;
/** `~` comes after every character of an id. */
const afterAllIds = '~';
const page =
  'SELECT document FROM https_edge_routes WHERE account_id = $1 AND edge_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4';
const withPath = 'SELECT id FROM https_edge_routes WHERE edge_id = $1 AND match_path = $2';

/** In the order of their creation. */
export async function routesOf(queries: Queries, { id }: Stored): Promise<readonly HttpsEdgeRoute[]> {
  return (await queries.all(ofEdge, [id])).map((row) => httpsEdgeRoutes.parse(row));
}

/** By edge, for any edges; in the order of their creation. */
export async function routesOfMany(
  queries: Queries,
  edges: readonly Stored[],
): Promise<ReadonlyMap<string, readonly HttpsEdgeRoute[]>> {
  const rows = await rowsOf(
    queries,
    edges.map(({ id }) => id),
    (places) => `SELECT document FROM https_edge_routes WHERE edge_id IN (${places}) ORDER BY id`,
  );
  return byEdge(rows);
}

/** Newest first. */
export async function pageOfRoutes(
  queries: Queries,
  { account_id, id }: Stored,
  { beforeId = afterAllIds, limit }: Page,
): Promise<readonly HttpsEdgeRoute[]> {
  return (await queries.all(page, [account_id, id, beforeId, limit])).map((row) => httpsEdgeRoutes.parse(row));
}

/** By edge, for the edges of one page of an account's list: newest first, none left out in between. */
export async function routesOfPage(
  queries: Queries,
  edges: readonly HttpsEdge[],
): Promise<ReadonlyMap<string, readonly HttpsEdgeRoute[]>> {
  const [newest] = edges;
  const oldest = edges.at(-1);
  if (newest === undefined || oldest === undefined) return new Map();
  const rows = await queries.all(ofPage, [newest.account_id, oldest.id, newest.id]);
  return byEdge(rows);
}

function byEdge(rows: readonly Row[]): ReadonlyMap<string, readonly HttpsEdgeRoute[]> {
  return Map.groupBy(
    rows.map((row) => httpsEdgeRoutes.parse(row)),
    ({ edge_id }) => edge_id,
  );
}

export async function findRouteId(queries: Queries, edgeId: string, matchPath: string): Promise<string | undefined> {
  const [row] = await queries.all(withPath, [edgeId, matchPath]);
  return row && String(row[0]);
}
