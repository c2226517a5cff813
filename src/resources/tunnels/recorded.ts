import { boundedSql, readBounded } from '../../store/bounded-rows.ts';
import type { Queries, Row } from '../../store/database.ts';
import type { Services } from '../services.ts';
import { tunnelGroups } from '../tunnel-group-backends/service.ts';
import type { AgentTunnels, Recorded } from './service.ts';
import { tunnelClaims, tunnels, tunnelSessions } from './table.ts';
import type { Tunnel } from './table.ts';

const atOnce = 128;
const ofSession = boundedSql({
  table: 'tunnels',
  columns: ['document', 'id'],
  long: ['document'],
  key: ['id'],
  order: 'ASC',
  where: 'session_id = $1 AND id > $2',
  limit: atOnce,
});

/** Names what agents serve as decisions do. Gateways know the entries of `compile.ts`, and no agents. */
export function recordedBy(services: Services): Pick<AgentTunnels, 'recordedOfSession' | 'recordedOfEndpoint'> {
  return {
    async recordedOfSession(queries, accountId, sessionId, most) {
      if ((await tunnelSessions.find(queries, accountId, sessionId)) === undefined) return undefined;
      const all: Tunnel[] = [];
      const statement = (last: Row | undefined) => [ofSession, [sessionId, last?.[1] ?? '']] as const;
      await readBounded(queries, { atOnce, wanted: most + 1, statement }, (row) => {
        // A policy may be long, and only whether there is one counts.
        const { traffic_policy: policy, ...tunnel } = tunnels.parse(row);
        all.push(policy === undefined ? tunnel : { ...tunnel, traffic_policy: '' });
      });
      if (all.length > most) return 'too_many';
      const recorded = new Map<string, Recorded>();
      for (const tunnel of all)
        for (const each of await recordedOf(queries, services, tunnel)) recorded.set(each.key, each);
      return [...recorded.values()];
    },
    async recordedOfEndpoint(queries, accountId, endpointId) {
      const tunnel = await tunnels.find(queries, accountId, endpointId.replace(/^ep_/, 'tn_'));
      return tunnel === undefined || tunnel.labels !== null ? undefined : endpointOf(queries, tunnel);
    },
  };
}

async function recordedOf(queries: Queries, services: Services, tunnel: Tunnel): Promise<readonly Recorded[]> {
  const { account_id: accountId, labels } = tunnel;
  if (labels === null) return [await endpointOf(queries, tunnel)];
  const groups = await services.get(tunnelGroups).matching(queries, accountId, labels);
  return groups.map(({ id }) => ({ dimension: 'backend', key: id }));
}

/** An agent with a policy has an entry of its own; the others of an endpoint have one together. */
async function endpointOf(queries: Queries, { id, account_id, claim_id, traffic_policy }: Tunnel): Promise<Recorded> {
  const claim = await tunnelClaims.find(queries, account_id, claim_id);
  // Visitors reach an internal endpoint by another one, which they are counted for.
  const dimension = claim?.internal === undefined ? 'edge' : 'backend';
  return { dimension, key: traffic_policy === undefined ? claim_id : id };
}
