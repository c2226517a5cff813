import { chunks } from '../../lib/chunks.ts';
import { Pace } from '../../lib/pace.ts';
import { parentOf } from '../hostname-holders.ts';
import type { CloudEndpoints, EndpointPlace } from './service.ts';
import { cloudEndpoints, endpointsAt, partsOf } from './table.ts';
import type { PlaceColumn } from './table.ts';

/** Places in one statement. */
const placesAtOnce = 32;

export const cloudService: CloudEndpoints = {
  async at(queries, accountId, place) {
    const [column, value] = keyOf(place);
    const found = value === null ? [] : await endpointsAt(queries, accountId, column, value);
    return found.map((endpoint) => ({
      id: endpoint.id,
      scheme: partsOf(endpoint).scheme,
      isPooled: endpoint.isPooled,
    }));
  },
  async amongst(queries, places) {
    const held = new Set<string>();
    const pace = new Pace();
    for (const [column, all] of Map.groupBy(places, (place) => keyOf(place)[0])) {
      for (const some of chunks(all, placesAtOnce)) {
        const are = some.map((_, at) => `(${column} = $${2 * at + 1} AND account_id = $${2 * at + 2})`).join(' OR ');
        const sql = `SELECT DISTINCT account_id, ${column} FROM cloud_endpoints WHERE ${are}`;
        const values = some.flatMap((place) => [keyOf(place)[1], place.account_id]);
        for (const [account, value] of await queries.all(sql, values)) held.add(`${String(account)} ${String(value)}`);
        if (pace.isDue) await pace.giveWay();
      }
    }
    return new Set(places.filter((place) => held.has(`${place.account_id} ${String(keyOf(place)[1])}`)));
  },
  page: async (queries, accountId, page) => cloudEndpoints.page(queries, accountId, page),
  async needing(queries, accountId, wildcard) {
    const sql = `
      SELECT e.id FROM cloud_endpoints e
      WHERE e.account_id = $1 AND e.parent = $2 AND NOT EXISTS (
        SELECT 1 FROM reserved_domains d WHERE d.account_id = e.account_id AND d.hostname = e.hostname AND d.hostname <> $3)
      ORDER BY e.id LIMIT 100`;
    return (await queries.all(sql, [accountId, parentOf(wildcard), wildcard])).map(([id]) => String(id));
  },
};

/** The column by which an endpoint is found at a place, and what it has there. */
function keyOf({ internal, hostname, port }: EndpointPlace): readonly [PlaceColumn, string | number | null] {
  if (internal !== undefined) return ['url', internal];
  return port === null ? ['hostname', hostname] : ['port', port];
}
