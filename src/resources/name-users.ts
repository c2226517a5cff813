import { quote } from '../errors/user-error.ts';
import type { Queries } from '../store/database.ts';
import { listShort, shownCount } from './references.ts';

/** Resources that name others, by the prefix of their ids: what people call them, and their table. */
const referrers: ReadonlyMap<string, readonly [noun: string, table: string]> = new Map([
  ['edghts', ['the HTTPS edge', 'https_edges']],
  ['edghtsrt', ['the route', 'https_edge_routes']],
  ['edgtcp', ['the TCP edge', 'tcp_edges']],
  ['edgtls', ['the TLS edge', 'tls_edges']],
  ['bkdwd', ['the backend', 'weighted_backends']],
  ['bkdfo', ['the backend', 'failover_backends']],
  ['ipx', ['the IP restriction', 'ip_restrictions']],
  ['ak', ['the API key', 'api_keys']],
  ['rd', ['the reserved domain', 'reserved_domains']],
  ['esb', ['the event subscription', 'event_subscriptions']],
  ['ep', ['the endpoint', 'cloud_endpoints']],
]);

/** Fields by which people know a resource, most telling first. */
const telling = ['description', 'domain', 'hostports', 'match', 'url'];

/** The users of a resource as a message names them: by their texts, and by their ids. */
export async function nameUsers(queries: Queries, accountId: string, ids: readonly string[]): Promise<string> {
  const shown: string[] = [];
  for (const id of ids.slice(0, shownCount)) shown.push(await nameUser(queries, accountId, id));
  return listShort([...shown, ...ids.slice(shownCount)]);
}

async function nameUser(queries: Queries, accountId: string, id: string): Promise<string> {
  const known = referrers.get(id.slice(0, id.indexOf('_')));
  if (known === undefined) return id;
  const [noun, table] = known;
  const sql = `SELECT document FROM ${table} WHERE id = $1 AND account_id = $2`;
  const [[document] = []] = await queries.all(sql, [id, accountId]);
  const fields = (document === undefined ? {} : JSON.parse(String(document))) as Readonly<Record<string, unknown>>;
  const text = telling.map((field) => [fields[field]].flat()[0]).find((value) => value !== undefined && value !== '');
  return text === undefined ? `${noun} ${id}` : `${noun} ${quote(text)} (${id})`;
}
