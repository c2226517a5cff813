import { parentOf } from '../hostname-holders.ts';
import type { CloudEndpoints, EndpointPlace } from './service.ts';
import { cloudEndpoints, endpointsAt, partsOf } from './table.ts';
import type { CloudEndpoint } from './table.ts';
import type { Queries } from '../../store/database.ts';

/** Most places that are asked for one by one. */
const fewPlaces = 20;

export const cloudService: CloudEndpoints = {
  async at(queries, accountId, place) {
    const found = await endpointsOf(queries, accountId, place);
    return found.map((endpoint) => ({
      id: endpoint.id,
      scheme: partsOf(endpoint).scheme,
      isPooled: endpoint.pooling_enabled,
    }));
  },
  async amongst(queries, places) {
    if (places.length === 0) return new Set();
    if (places.length > fewPlaces) {
      const rows = await queries.all('SELECT account_id, url, hostname, port FROM cloud_endpoints');
      const held = new Set(
        rows.flatMap(([account, ...keys]) => keys.map((key) => `${String(account)} ${String(key)}`)),
      );
      return new Set(
        places.filter(({ account_id, internal, hostname, port }) =>
          held.has(`${account_id} ${internal ?? hostname ?? String(port)}`),
        ),
      );
    }
    const found = new Set<(typeof places)[number]>();
    for (const place of places) if ((await endpointsOf(queries, place.account_id, place)).length > 0) found.add(place);
    return found;
  },
  async needing(queries, accountId, wildcard) {
    const sql = `
      SELECT e.id FROM cloud_endpoints e
      WHERE e.account_id = $1 AND e.parent = $2 AND NOT EXISTS (
        SELECT 1 FROM reserved_domains d WHERE d.account_id = e.account_id AND d.hostname = e.hostname AND d.hostname <> $3)
      ORDER BY e.id LIMIT 100`;
    return (await queries.all(sql, [accountId, parentOf(wildcard), wildcard])).map(([id]) => String(id));
  },
};

async function endpointsOf(
  queries: Queries,
  accountId: string,
  { internal, hostname, port }: EndpointPlace,
): Promise<readonly CloudEndpoint[]> {
  if (internal !== undefined) return endpointsAt(queries, accountId, internal);
  const [column, value] = port === null ? (['hostname', hostname] as const) : (['port', port] as const);
  if (value === null) return [];
  const sql = `SELECT document FROM cloud_endpoints WHERE ${column} = $1 AND account_id = $2 ORDER BY id`;
  return (await queries.all(sql, [value, accountId])).map((row) => cloudEndpoints.parse(row));
}
