import type { Migration } from '../../store/migrate.ts';
import { usageSql } from '../../store/usage.ts';
import type { CountedTable } from '../../store/usage.ts';

interface Quota {
  readonly description: string;
  /** The quota of an account unless the operator gives another. */
  readonly most: number;
}

/** Every quota, in the order in which they are shown. Far above what people need, and far below what a machine holds. */
export const quotas = {
  edges: { description: 'TCP and HTTPS edges', most: 200_000 },
  edge_routes: { description: 'routes of HTTPS edges', most: 500_000 },
  tcp_ports: { description: 'TCP ports of edges, and of endpoints of agents', most: 5_000 },
  backends: { description: 'static backends and groups of tunnels', most: 200_000 },
  ip_policies: { description: 'IP policies', most: 100_000 },
  ip_policy_rules: {
    description:
      'rules of IP policies: those in force, and those of a list that replaces them or was replaced, for as long as both are stored',
    most: 3_000_000,
  },
  ip_restrictions: { description: 'IP restrictions', most: 10_000 },
  api_keys: { description: 'API keys', most: 200_000 },
  credentials: { description: 'credentials of agents', most: 100_000 },
  bot_users: { description: 'bot users', most: 50_000 },
  tls_certificates: { description: 'TLS certificates, uploaded and issued', most: 20_000 },
  reserved_domains: { description: 'reserved domains', most: 100_000 },
  reserved_addrs: { description: 'reserved TCP addresses', most: 2_000 },
  tunnel_sessions: { description: 'sessions of agents', most: 20_000 },
  tunnels: { description: 'tunnels of agents', most: 50_000 },
  tunnel_endpoints: {
    description: 'names, ports and labels that tunnels of agents have, or had until a short while ago',
    most: 50_000,
  },
} as const satisfies Readonly<Record<string, Quota>>;

export const counted: readonly (CountedTable & { readonly quota: keyof typeof quotas })[] = [
  { table: 'tcp_edges', quota: 'edges' },
  { table: 'https_edges', quota: 'edges' },
  { table: 'https_edge_routes', quota: 'edge_routes' },
  { table: 'tcp_edge_ports', quota: 'tcp_ports' },
  { table: 'tunnel_claims', quota: 'tcp_ports', column: 'port' },
  { table: 'static_backends', quota: 'backends' },
  { table: 'tunnel_group_backends', quota: 'backends' },
  { table: 'ip_policies', quota: 'ip_policies' },
  { table: 'ip_policy_rule_rows', quota: 'ip_policy_rules' },
  { table: 'ip_restrictions', quota: 'ip_restrictions' },
  { table: 'api_keys', quota: 'api_keys' },
  { table: 'credentials', quota: 'credentials' },
  { table: 'bot_users', quota: 'bot_users' },
  { table: 'tls_certificates', quota: 'tls_certificates' },
  { table: 'reserved_domains', quota: 'reserved_domains' },
  { table: 'reserved_addrs', quota: 'reserved_addrs' },
  { table: 'tunnel_sessions', quota: 'tunnel_sessions' },
  { table: 'tunnels', quota: 'tunnels' },
  { table: 'tunnel_claims', quota: 'tunnel_endpoints' },
];

const defaultsSql = Object.entries(quotas)
  .map(([quota, { most }]) => `INSERT INTO default_quotas (quota, most) VALUES ('${quota}', ${most});`)
  .join('\n');

const countsSql = counted
  .map(({ table, quota, column }) => {
    const isCounted = column === undefined ? '' : `AND ${column} IS NOT NULL`;
    return `
      UPDATE account_usage SET used = used + (
        SELECT COUNT(*) FROM ${table} t WHERE t.account_id = account_usage.account_id ${isCounted})
      WHERE quota = '${quota}';`;
  })
  .join('\n');

export const migrations: readonly Migration[] = [
  {
    // Nobody meets a quota by an upgrade: an account that has much already may have twice as much.
    name: 'quotas 0001',
    sql: (database) => `
      ${usageSql}
      ${defaultsSql}
      INSERT INTO account_usage (account_id, quota, used, most, is_own)
      SELECT a.id, d.quota, 0, d.most, 0 FROM accounts a CROSS JOIN default_quotas d;
      ${countsSql}
      UPDATE account_usage SET most = 2 * used, is_own = 1 WHERE 2 * used > most;
      ${database.countRowsSql(counted)}
    `,
  },
];
