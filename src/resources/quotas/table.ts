import type { CountingSql } from '../../store/database.ts';
import type { Migration } from '../../store/migrate.ts';
import { usageSql } from '../../store/usage.ts';
import type { CountedTable } from '../../store/usage.ts';
import { policyColumn, policyQuota, policyTables } from '../policy-memory.ts';

interface Quota {
  readonly description: string;
  /** The quota of an account unless the operator gives another. */
  readonly most: number;
  /** Tables with a column `account_id` whose rows count. */
  readonly tables: readonly string[];
  /** The program itself counts (`countRows`), and no trigger does. */
  readonly isCountedByProgram?: boolean;
  /** Another one, of which only rows with a value in this column count. */
  readonly also?: { readonly table: string; readonly column: string };
  /** A column of the tables with a number, which counts in place of each row. */
  readonly sum?: string;
}

const first = {
  edges: { description: 'TCP and HTTPS edges', most: 200_000, tables: ['tcp_edges', 'https_edges'] },
  edge_routes: { description: 'routes of HTTPS edges', most: 500_000, tables: ['https_edge_routes'] },
  tcp_ports: {
    description: 'TCP ports of edges, and of endpoints of agents',
    most: 5_000,
    tables: ['tcp_edge_ports'],
    also: { table: 'tunnel_claims', column: 'port' },
  },
  backends: {
    description: 'static backends and groups of tunnels',
    most: 200_000,
    tables: ['static_backends', 'tunnel_group_backends'],
  },
  ip_policies: { description: 'IP policies', most: 100_000, tables: ['ip_policies'] },
  ip_policy_rules: {
    description:
      'rules of IP policies: those in force, and those of a list that replaces them or was replaced, for as long as both are stored',
    most: 3_000_000,
    tables: ['ip_policy_rule_rows'],
    isCountedByProgram: true,
  },
  ip_restrictions: { description: 'IP restrictions', most: 10_000, tables: ['ip_restrictions'] },
  api_keys: { description: 'API keys', most: 200_000, tables: ['api_keys'] },
  credentials: { description: 'credentials of agents', most: 100_000, tables: ['credentials'] },
  bot_users: { description: 'bot users', most: 50_000, tables: ['bot_users'] },
  tls_certificates: {
    description: 'TLS certificates, uploaded and issued',
    most: 20_000,
    tables: ['tls_certificates'],
  },
  reserved_domains: { description: 'reserved domains', most: 100_000, tables: ['reserved_domains'] },
  reserved_addrs: { description: 'reserved TCP addresses', most: 2_000, tables: ['reserved_addrs'] },
  tunnel_sessions: { description: 'sessions of agents', most: 20_000, tables: ['tunnel_sessions'] },
  tunnels: { description: 'tunnels of agents', most: 50_000, tables: ['tunnels'] },
  tunnel_endpoints: {
    description: 'names, ports and labels that tunnels of agents have, or had until a short while ago',
    most: 50_000,
    tables: ['tunnel_claims'],
  },
} as const satisfies Readonly<Record<string, Quota>>;

const authorities = {
  certificate_authorities: {
    description: 'certificate authorities of visitors',
    most: 10_000,
    tables: ['certificate_authorities'],
  },
} as const satisfies Readonly<Record<string, Quota>>;

const people = {
  users: { description: 'users, and invitations', most: 20_000, tables: ['users', 'invitations'] },
} as const satisfies Readonly<Record<string, Quota>>;

const visitors = {
  app_sessions: {
    description:
      'sessions of visitors who have signed in, and what is kept of those that were ended before their time; beyond it the oldest end',
    most: 500_000,
    tables: ['app_sessions', 'ended_app_sessions', 'app_session_marks'],
  },
} as const satisfies Readonly<Record<string, Quota>>;

const secrets = {
  vaults: { description: 'vaults', most: 1_000, tables: ['vaults'] },
  vault_secrets: { description: 'secrets in vaults', most: 10_000, tables: ['vault_secrets'] },
} as const satisfies Readonly<Record<string, Quota>>;

const endpoints = {
  endpoints: { description: 'cloud endpoints', most: 50_000, tables: ['cloud_endpoints'] },
} as const satisfies Readonly<Record<string, Quota>>;

const operators = {
  kubernetes_operators: {
    description: 'registered operators of Kubernetes clusters',
    most: 1_000,
    tables: ['kubernetes_operators'],
  },
} as const satisfies Readonly<Record<string, Quota>>;

const events = {
  event_destinations: { description: 'event destinations', most: 100, tables: ['event_destinations'] },
  event_subscriptions: { description: 'event subscriptions', most: 100, tables: ['event_subscriptions'] },
} as const satisfies Readonly<Record<string, Quota>>;

const policies = {
  [policyQuota]: {
    description:
      'memory that the traffic policies of edges, routes and endpoints take once they are built, in KiB, by an estimate',
    most: 262_144,
    tables: policyTables,
    sum: policyColumn,
  },
} as const satisfies Readonly<Record<string, Quota>>;

/** Tables that came later, empty. */
const furtherEdges = ['tls_edges'];

const furtherBackends = ['http_response_backends', 'weighted_backends', 'failover_backends'];

/**
 * Every quota, in the order in which they are shown. Far above what people need, and far below what a machine holds. One
 * that is added later stands in an object of its own, which its own migration counts.
 */
export const quotas: Readonly<Record<string, Quota>> = {
  ...first,
  edges: { ...first.edges, description: 'TCP, TLS and HTTPS edges', tables: [...first.edges.tables, ...furtherEdges] },
  backends: {
    ...first.backends,
    description: 'backends of all kinds',
    tables: [...first.backends.tables, ...furtherBackends],
  },
  ...authorities,
  ...people,
  ...visitors,
  ...secrets,
  ...endpoints,
  ...operators,
  ...policies,
  ...events,
};

export const migrations: readonly Migration[] = [
  {
    name: 'quotas 0001',
    sql: ({ counting }) => `
      ${usageSql}
      ${counting.guardSql}
      ${newQuotasSql(first, counting)}
    `,
  },
  {
    name: 'quotas 0002 backends',
    sql: ({ counting }) =>
      furtherBackends.map((table) => counting.triggersSql({ quota: 'backends', table })).join('\n'),
  },
  { name: 'quotas 0003 certificate authorities', sql: ({ counting }) => newQuotasSql(authorities, counting) },
  { name: 'quotas 0004 users', sql: ({ counting }) => newQuotasSql(people, counting) },
  {
    name: 'quotas 0005 tls edges',
    sql: ({ counting }) => furtherEdges.map((table) => counting.triggersSql({ quota: 'edges', table })).join('\n'),
  },
  { name: 'quotas 0006 sessions of visitors', sql: ({ counting }) => newQuotasSql(visitors, counting) },
  { name: 'quotas 0007 vaults', sql: ({ counting }) => newQuotasSql(secrets, counting) },
  { name: 'quotas 0008 cloud endpoints', sql: ({ counting }) => newQuotasSql(endpoints, counting) },
  { name: 'quotas 0009 kubernetes operators', sql: ({ counting }) => newQuotasSql(operators, counting) },
  {
    name: 'quotas 0010 memory of traffic policies',
    sql: ({ counting }) => `
      ${policyTables.map(policyColumnSql).join('')}
      ${newQuotasSql(policies, counting)}
    `,
  },
  { name: 'quotas 0011 events', sql: ({ counting }) => newQuotasSql(events, counting) },
];

/** What is stored counts by its length until it is written again: what a policy of usual rules takes. */
function policyColumnSql(table: string): string {
  return `
    ALTER TABLE ${table} ADD COLUMN ${policyColumn} INTEGER NOT NULL DEFAULT 0;
    UPDATE ${table} SET ${policyColumn} = 4 + LENGTH(document) / 40
    WHERE document LIKE '%"traffic_policy":%' OR document LIKE '%"policy":{"enabled":%';`;
}

export function countedTables(counted: Readonly<Record<string, Quota>>): readonly CountedTable[] {
  return Object.entries(counted).flatMap(([quota, { tables, also, sum }]) => [
    ...tables.map((table) => ({ quota, table, ...(sum !== undefined && { sum }) })),
    ...(also === undefined ? [] : [{ quota, ...also }]),
  ]);
}

/** Nobody meets a quota by an upgrade: an account that has much already may have twice as much. */
function newQuotasSql(added: Readonly<Record<string, Quota>>, counting: CountingSql): string {
  const counted = countedTables(added);
  const statements = Object.entries(added).map(([quota, { most }]) => {
    const used = counted.filter((each) => each.quota === quota).map(countSql);
    return `
      INSERT INTO default_quotas (quota, most) VALUES ('${quota}', ${most});
      INSERT INTO account_usage (account_id, quota, used, most, is_own)
      SELECT id, '${quota}', used, CASE WHEN 2 * used > ${most} THEN 2 * used ELSE ${most} END,
        CASE WHEN 2 * used > ${most} THEN 1 ELSE 0 END
      FROM (SELECT a.id, ${used.join(' + ')} AS used FROM accounts a) counted;`;
  });
  const triggers = counted.filter(({ quota }) => added[quota]?.isCountedByProgram !== true);
  return [...statements, ...triggers.map(counting.triggersSql)].join('\n');
}

function countSql({ table, column, sum }: CountedTable): string {
  if (sum !== undefined) return `(SELECT COALESCE(SUM(t.${sum}), 0) FROM ${table} t WHERE t.account_id = a.id)`;
  const isCounted = column === undefined ? '' : `AND t.${column} IS NOT NULL`;
  return `(SELECT COUNT(*) FROM ${table} t WHERE t.account_id = a.id ${isCounted})`;
}
