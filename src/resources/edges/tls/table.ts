import type { Migration } from '../../../store/migrate.ts';
import { Table, tableSql } from '../../../store/table.ts';
import type { Edge } from '../edge-writes.ts';
import { hostnameReservations } from '../hostnames.ts';

export const hostnames = hostnameReservations('tls_edge_hostnames', 'tls_edges');

export const migrations: readonly Migration[] = [
  {
    name: 'edges 0002 tls edges',
    sql: `
      ${tableSql('tls_edges')}
      ${hostnames.sql}
      CREATE INDEX tls_edge_hostnames_by_parent ON tls_edge_hostnames (parent);
    `,
  },
];

export const tlsEdges = new Table<Edge>({
  name: 'tls_edges',
  kind: 'tls_edge',
  prefix: 'edgtls',
  mayBeLong: true,
});
