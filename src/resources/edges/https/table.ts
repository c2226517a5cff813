import type { TextFields } from '../../../api/body/text-fields.ts';
import type { Migration } from '../../../store/migrate.ts';
import { Table, tableSql } from '../../../store/table.ts';
import { hostnameReservations } from '../hostnames.ts';
import type { HasModules } from '../module-fields.ts';
import { toMatchPath } from './match.ts';

export interface HttpsEdge extends HasModules, TextFields {
  /** `name:port`, lower case. */
  readonly hostports: readonly string[];
}

export const matchTypes = ['path_prefix', 'exact_path'] as const;
export type MatchType = (typeof matchTypes)[number];

export interface HttpsEdgeRoute extends HasModules, TextFields {
  readonly edge_id: string;
  readonly match_type: MatchType;
  readonly match: string;
}

export const hostnames = hostnameReservations('https_edge_hostnames', 'https_edges');

export const migrations: readonly Migration[] = [
  {
    name: '0008 https edges',
    sql: `
      ${tableSql('https_edges')}
      ${hostnames.sql}
      CREATE INDEX https_edge_hostnames_by_parent ON https_edge_hostnames (parent);
      ${tableSql(
        'https_edge_routes',
        `edge_id TEXT NOT NULL REFERENCES https_edges (id),
         match_path TEXT NOT NULL,
         UNIQUE (edge_id, match_path)`,
      )}
      CREATE INDEX https_edge_routes_by_edge ON https_edge_routes (account_id, edge_id, id);
    `,
  },
];

export const httpsEdges = new Table<HttpsEdge>({
  name: 'https_edges',
  kind: 'https_edge',
  prefix: 'edghts',
  // Edges of release 0.2 have no modules of their own.
  complete: (edge) => ({ ...edge, modules: edge.modules ?? {} }),
});

/** Two spellings of one path would be one route to the gateway: the database compares what it compares. */
export const httpsEdgeRoutes = new Table<HttpsEdgeRoute>({
  name: 'https_edge_routes',
  kind: 'https_edge_route',
  prefix: 'edghtsrt',
  mayBeLong: true,
  columns: { edge_id: ({ edge_id }) => edge_id, match_path: ({ match }) => toMatchPath(match) },
});
