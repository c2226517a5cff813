import type { Compiler } from '../../publisher/compiler.ts';
import type { TunnelBackendEntry } from '../../snapshot/contract.ts';
import { agentTunnels } from '../tunnels/service.ts';
import type { Services } from '../services.ts';
import { membersKind } from './service.ts';
import { tunnelGroupBackends } from './table.ts';

/** A group changes when it is written, and when a tunnel with its labels comes or goes. */
export function tunnelGroupCompiler(services: Services): Compiler {
  return {
    kind: 'tunnel_backend',
    affectedIds: ({ kind, id }) => (kind === tunnelGroupBackends.kind || kind === membersKind ? [id] : []),
    async load(queries, ids) {
      const entries: TunnelBackendEntry[] = [];
      for (const { id, account_id, labels } of await tunnelGroupBackends.loadMany(queries, ids)) {
        const agents = services.get(agentTunnels);
        const tunnels = await agents.withLabels(queries, account_id, labels);
        const isExpected = tunnels.length === 0 && (await agents.expectsLabels(queries, account_id, labels));
        entries.push({ kind: 'tunnel_backend', id, tunnels, ...(isExpected && { isExpected }) });
      }
      return entries;
    },
  };
}
