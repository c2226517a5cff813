import { formatEndpointUrl } from '../../lib/endpoint-url.ts';
import type { Queries } from '../../store/database.ts';
import { membersOf } from './rows.ts';
import type { AgentEndpoint, AgentPlace } from './service.ts';
import { tunnelClaims } from './table.ts';
import type { ClaimKind } from './table.ts';

/** Endpoints of the account's agents at a place. */
export async function endpointsAt(
  queries: Queries,
  accountId: string,
  place: AgentPlace,
): Promise<readonly AgentEndpoint[]> {
  const sql = 'SELECT document FROM tunnel_claims WHERE claim_key = $1 AND account_id = $2';
  const [row] = await queries.all(sql, [keyOf(accountId, place), accountId]);
  if (row === undefined) return [];
  const claim = tunnelClaims.parse(row);
  const isOtherKind = claim.kind !== kindOf(place);
  const members = await membersOf(queries, claim.id);
  // A name of HTTP that is kept for an agent is given to whoever asks next; ports and names of TLS are not shared with it.
  if (members.length === 0 && claim.kind !== 'http' && !place.isInternal)
    return [{ id: claim.id, isPooled: false, isOtherKind }];
  return members.map(({ id, pooling_enabled }) => ({ id, isPooled: pooling_enabled, isOtherKind }));
}

/** Kinds of claims by scheme: one name serves http and https. */
export function kindOf({ scheme }: Pick<AgentPlace, 'scheme'>): ClaimKind {
  return scheme === 'https' ? 'http' : scheme;
}

function keyOf(accountId: string, { isInternal, ...url }: AgentPlace): string {
  if (isInternal) return `internal ${accountId} ${formatEndpointUrl(url)}`;
  return url.scheme === 'tcp' ? `port ${url.port}` : `name ${url.hostname}`;
}
