import { DatabaseSync } from 'node:sqlite';

/** A route of a filled database. */
export interface FilledRoute {
  readonly host: string;
  /** API path of the route. */
  readonly path: string;
}

/** Reads the first `count` routes of a filled database: `localhost`, then `host-1.example.com` and so on. */
export function readRoutes(databaseFile: string, count: number): readonly FilledRoute[] {
  const database = new DatabaseSync(databaseFile, { readOnly: true });
  try {
    const rows = database
      .prepare(
        `SELECT h.hostname AS host, r.edge_id AS edge, r.id AS id
         FROM https_edge_routes r JOIN https_edge_hostnames h ON h.edge_id = r.edge_id ORDER BY r.id LIMIT ?`,
      )
      .all(count);
    return rows.map(({ host, edge, id }) => ({
      host: String(host),
      path: `/edges/https/${String(edge)}/routes/${String(id)}`,
    }));
  } finally {
    database.close();
  }
}
