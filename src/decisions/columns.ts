/**
 * Version of the columns, which every file of decisions names. It grows when a column changes its meaning or goes. In version 1,
 * the halves of the source were unsigned, which some engines cannot read.
 */
export const schemaVersion = 2;

/** Columns in their order. An empty text stands for none, as 0 does in `port`, `status` and `code`, and -1 in `upstream_us`. */
export const columns = {
  /** Grows with every decision of a gateway: microseconds since 1970, where the clock does not go back. */
  number: 'BIGINT',
  at_ms: 'BIGINT',
  kind: 'VARCHAR',
  verdict: 'VARCHAR',
  request_id: 'VARCHAR',
  edge_id: 'VARCHAR',
  route_id: 'VARCHAR',
  source: 'VARCHAR',
  /** The 64 bits of each half of the source as an IPv6 address, as a signed number; IPv4 is mapped (::ffff:0:0/96). */
  source_high: 'BIGINT',
  source_low: 'BIGINT',
  port: 'INTEGER',
  host: 'VARCHAR',
  method: 'VARCHAR',
  path: 'VARCHAR',
  protocol: 'VARCHAR',
  status: 'INTEGER',
  code: 'INTEGER',
  module: 'VARCHAR',
  /** Ids of restrictions, separated by blanks. */
  rule: 'VARCHAR',
  would_be_refused_by: 'VARCHAR',
  reason: 'VARCHAR',
  person: 'VARCHAR',
  backend_id: 'VARCHAR',
  duration_us: 'BIGINT',
  upstream_us: 'BIGINT',
  bytes_in: 'BIGINT',
  bytes_out: 'BIGINT',
  configuration_version: 'BIGINT',
  worker: 'INTEGER',
} as const;

/** Names of the columns in their order, as SQL. */
export const columnNames = Object.keys(columns).join(', ');

/** Rows of SQL hold whole numbers of 64 bits as `bigint`. */
export type DecisionRow = {
  readonly [Name in keyof typeof columns]: (typeof columns)[Name] extends 'VARCHAR'
    ? string
    : (typeof columns)[Name] extends 'INTEGER'
      ? number
      : bigint;
};
