import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import type { Queries } from '../../store/database.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import type { Transaction } from '../../store/write/transaction.ts';
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
  {
    // Whoever asks who is at a place reads an index, and no document with its policy.
    name: 'endpoints 0002 places',
    sql: `
      ALTER TABLE cloud_endpoints ADD COLUMN is_pooled INTEGER NOT NULL DEFAULT 0;
      UPDATE cloud_endpoints SET is_pooled = 1 WHERE document LIKE '%"pooling_enabled":true%';
      DROP INDEX cloud_endpoints_by_url;
      DROP INDEX cloud_endpoints_by_hostname;
      DROP INDEX cloud_endpoints_by_parent;
      DROP INDEX cloud_endpoints_by_port;
      CREATE INDEX cloud_endpoints_by_url ON cloud_endpoints (url, account_id, is_pooled, id);
      CREATE INDEX cloud_endpoints_by_hostname ON cloud_endpoints (hostname, account_id, is_pooled, id, url);
      CREATE INDEX cloud_endpoints_by_parent ON cloud_endpoints (parent, account_id, hostname, id);
      CREATE INDEX cloud_endpoints_by_port ON cloud_endpoints (port, account_id, is_pooled, id, url);
    `,
  },
];

export const cloudEndpoints = new Table<CloudEndpoint>({
  name: 'cloud_endpoints',
  kind: 'endpoint',
  prefix: 'ep',
  mayBeLong: true,
  columns: {
    url: ({ url }) => url,
    hostname: (endpoint) => publicName(endpoint) ?? null,
    parent: (endpoint) => {
      const name = publicName(endpoint);
      return name === undefined ? null : parentOf(name);
    },
    port: (endpoint) => publicPort(endpoint) ?? null,
    is_pooled: ({ pooling_enabled }) => (pooling_enabled ? 1 : 0),
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

/** The columns by which endpoints share a place. */
export type PlaceColumn = 'url' | 'hostname' | 'port';

/** What others ask of an endpoint at a place. */
interface EndpointAt extends Pick<CloudEndpoint, 'id' | 'url'> {
  readonly isPooled: boolean;
}

/** Endpoints of the account at a place, without their documents: a policy may be long, and a pool large. Unshared ones come first. */
export async function endpointsAt(
  queries: Queries,
  accountId: string,
  column: PlaceColumn,
  value: string | number,
): Promise<readonly EndpointAt[]> {
  const sql = `SELECT id, url, is_pooled FROM cloud_endpoints WHERE ${column} = $1 AND account_id = $2 ORDER BY is_pooled, id`;
  const rows = await queries.all(sql, [value, accountId]);
  return rows.map(([id, url, isPooled]) => ({ id: String(id), url: String(url), isPooled: isPooled === 1 }));
}

/** Leaves its place to others until it is written with another URL. */
export async function leavePlace(writer: Pick<Transaction, 'run'>, { id }: CloudEndpoint): Promise<void> {
  const sql = "UPDATE cloud_endpoints SET url = '', hostname = NULL, parent = NULL, port = NULL WHERE id = $1";
  await writer.run(sql, [id]);
}

/** Lets others share its place before it is written as one that does. */
export async function sharePlace(writer: Pick<Transaction, 'run'>, { id }: CloudEndpoint): Promise<void> {
  await writer.run('UPDATE cloud_endpoints SET is_pooled = 1 WHERE id = $1', [id]);
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
