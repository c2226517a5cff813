import type { TextFields } from '../../../api/body/text-fields.ts';
import type { Migration } from '../../../store/migrate.ts';
import { Table, tableSql } from '../../../store/table.ts';
import { Reservations } from '../hostports.ts';
import type { HasModules } from '../module-fields.ts';

export interface TcpEdge extends HasModules, TextFields {
  /** `host:port`, as they were given. */
  readonly hostports: readonly string[];
}

/** The gateway listens on a port for one edge only. */
export const ports = new Reservations({
  name: 'tcp_edge_ports',
  key: 'port',
  keyType: 'INTEGER',
  edges: 'tcp_edges',
  namesAccount: true,
});

export const migrations: readonly Migration[] = [
  { name: '0007 tcp edges', sql: `${tableSql('tcp_edges')} ${ports.sql}` },
  {
    name: 'edges 0001 accounts of ports',
    sql: `
      ALTER TABLE tcp_edge_ports ADD COLUMN account_id TEXT;
      UPDATE tcp_edge_ports SET account_id = (SELECT e.account_id FROM tcp_edges e WHERE e.id = tcp_edge_ports.edge_id);
    `,
  },
];

export const tcpEdges = new Table<TcpEdge>({
  name: 'tcp_edges',
  kind: 'tcp_edge',
  prefix: 'edgtcp',
  mayBeLong: true,
});
