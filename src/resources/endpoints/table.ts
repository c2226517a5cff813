import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Queries } from '../../store/database.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { readEndpointUrl } from '../../lib/endpoint-url.ts';
import type { EndpointUrl } from '../../lib/endpoint-url.ts';
import { parentOf } from '../hostname-holders.ts';
import type { HostnameHolder } from '../hostname-holders.ts';
import type { PortHolder } from '../port-holders.ts';

export const bindings = ['public', 'internal'] as const;
export type Binding = (typeof bindings)[number];

/** An endpoint that was made by a call, whose traffic policy is all that it has. */
export interface CloudEndpoint extends Stored, TextFields {
  /** In its shortest form. */
  readonly url: string;
  /** One. */
  readonly bindings: readonly Binding[];
  /** The text as it was given. */
  readonly traffic_policy: string;
  readonly pooling_enabled: boolean;
  readonly updated_at: string;
}

export const migrations: readonly Migration[] = [
  {
    name: 'endpoints 0001 cloud endpoints',
    sql: `
      ${tableSql('cloud_endpoints', 'url TEXT NOT NULL, hostname TEXT, parent TEXT, port INTEGER')}
      CREATE INDEX cloud_endpoints_by_url ON cloud_endpoints (account_id, url);
      CREATE INDEX cloud_endpoints_by_hostname ON cloud_endpoints (hostname);
      CREATE INDEX cloud_endpoints_by_parent ON cloud_endpoints (parent);
      CREATE INDEX cloud_endpoints_by_port ON cloud_endpoints (port);
    `,
  },
];

export const cloudEndpoints = new Table<CloudEndpoint>({
  name: 'cloud_endpoints',
  kind: 'endpoint',
  prefix: 'ep',
  columns: {
    url: ({ url }) => url,
    hostname: (endpoint) => publicName(endpoint) ?? null,
    parent: (endpoint) => {
      const name = publicName(endpoint);
      return name === undefined ? null : parentOf(name);
    },
    port: (endpoint) => publicPort(endpoint) ?? null,
  },
});

/** The parts of a stored URL. */
export function partsOf({ url }: Pick<CloudEndpoint, 'url'>): EndpointUrl {
  const read = readEndpointUrl(url);
  // Read before it was stored: another form means that the database was changed by hand.
  if (!read.ok) throw new Error(`the stored URL ${JSON.stringify(url)} cannot be read`);
  return read.url;
}

export function isPublic({ bindings: [binding] }: Pick<CloudEndpoint, 'bindings'>): boolean {
  return binding === 'public';
}

/** The name that it holds in the whole installation. */
function publicName(endpoint: CloudEndpoint): string | undefined {
  const { scheme, hostname } = partsOf(endpoint);
  return isPublic(endpoint) && scheme !== 'tcp' ? hostname : undefined;
}

/** The port that it holds in the whole installation. */
function publicPort(endpoint: CloudEndpoint): number | undefined {
  const { scheme, port } = partsOf(endpoint);
  return isPublic(endpoint) && scheme === 'tcp' ? port : undefined;
}

/** Those of the account at exactly this URL. */
export async function endpointsAt(queries: Queries, accountId: string, url: string): Promise<readonly CloudEndpoint[]> {
  const sql = 'SELECT document FROM cloud_endpoints WHERE account_id = $1 AND url = $2 ORDER BY id';
  return (await queries.all(sql, [accountId, url])).map((row) => cloudEndpoints.parse(row));
}

export const cloudNames: HostnameHolder = {
  table: 'cloud_endpoints',
  id: 'id',
  accountId: 'account_id',
  reserves: false,
};

export const cloudPorts: PortHolder = {
  async ownerOf(queries, port) {
    const [row] = await queries.all('SELECT id, account_id FROM cloud_endpoints WHERE port = $1 ORDER BY id LIMIT 1', [
      port,
    ]);
    return row && { id: String(row[0]), accountId: String(row[1]), reserves: false };
  },
  async heldPorts(queries, accountId) {
    const sql = 'SELECT DISTINCT port FROM cloud_endpoints WHERE port IS NOT NULL';
    const rows =
      accountId === undefined ? await queries.all(sql) : await queries.all(`${sql} AND account_id = $1`, [accountId]);
    return rows.map(([port]) => Number(port));
  },
};
