import { formatIp } from '../lib/ip/address.ts';
import type { ConnectionServices } from '../modules/step.ts';
import { takeRates } from './bounds/take-rate.ts';
import type { EngineBounds } from './bounds/engine-bounds.ts';
import type { GatewayLog } from './engine.ts';
import type { VaultSecrets } from './vault-secrets.ts';

interface ServicesParts {
  readonly access: ConnectionServices['access'];
  readonly bounds: Pick<EngineBounds, 'rates'>;
  readonly secrets: VaultSecrets;
  readonly log: GatewayLog;
}

/** Work that steps leave to an engine, for connections as well as requests. */
export function connectionServices({ access, bounds, secrets, log }: ServicesParts): ConnectionServices {
  return { access, rates: takeRates(bounds.rates), secrets: secrets.service, notes: policyNotes(log) };
}

/** Writes what rules of traffic policies note of visits. A request has the operation id of its line in the access log. */
function policyNotes(log: GatewayLog): ConnectionServices['notes'] {
  return {
    add({ accountId, edgeId, ownerId, source }, operationId, metadata) {
      const fields = { account_id: accountId, edge_id: edgeId, owner_id: ownerId, source: formatIp(source) };
      log.info({ operation_id: operationId, ...fields, traffic_policy: { metadata } }, 'traffic policy');
    },
  };
}
