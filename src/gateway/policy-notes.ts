import { formatIp } from '../lib/ip/address.ts';
import type { ConnectionServices } from '../modules/step.ts';
import type { GatewayLog } from './engine.ts';

/** Writes what rules of traffic policies note of visits. A request has the operation id of its line in the access log. */
export function policyNotes(log: GatewayLog): ConnectionServices['notes'] {
  return {
    add({ accountId, edgeId, ownerId, source }, operationId, metadata) {
      const fields = { account_id: accountId, edge_id: edgeId, owner_id: ownerId, source: formatIp(source) };
      log.info({ operation_id: operationId, ...fields, traffic_policy: { metadata } }, 'traffic policy');
    },
  };
}
