import { agentCredentials } from '../credentials/service.ts';
import { hostnameHolders } from '../hostname-holders.ts';
import { hasLabels } from '../labels.ts';
import { portHolders } from '../port-holders.ts';
import { ownedByProcesses } from '../processes/service.ts';
import type { Settings } from '../../modules/module.ts';
import type { Resource } from '../resource.ts';
import { CommandBox, removeAbandonedCommands } from './commands.ts';
import { visitedEntries } from '../visited-entries.ts';
import { endpointCompilers, toRef, visitedTunnels } from './compile.ts';
import { endpointsAt } from './endpoints-at.ts';
import * as errors from './errors.ts';
import { claimedNames, claimedPorts } from './holders.ts';
import { TunnelHost } from './host.ts';
import { recordedBy } from './recorded.ts';
import { sessionOperations, tunnelOperations } from './operations.ts';
import { heldLabels, labelledTunnels, TunnelRows } from './rows.ts';
import { TunnelSessionCommand, TunnelSessionView, TunnelView } from './schema.ts';
import { agentTunnels, commandBox } from './service.ts';
import { migrations, tunnelClaims, tunnels, tunnelSessions } from './table.ts';

/** Names of agents whose process is gone are held for so long; the settings of that process are not known any more. */
const goneProcessHoldMs = 180_000;

/** Agents that are connected, and what they serve. Observations: they come and go with connections, not with writes. */
export const tunnelsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [TunnelSessionView, TunnelView, TunnelSessionCommand],
  operations: (context) => [...sessionOperations(context), ...tunnelOperations(context)],
  compilers: ({ settings, sealer, services }) => endpointCompilers({ httpsPort: settings.httpsPort, sealer, services }),
  provide(context) {
    const { store, services, settings, sealer } = context;
    const box = new CommandBox(store);
    services.provide(commandBox, box);
    services.add(hostnameHolders, claimedNames);
    services.add(portHolders, claimedPorts);
    for (const each of visitedTunnels({ httpsPort: settings.httpsPort, sealer, services }))
      services.add(visitedEntries, each);
    services.add(ownedByProcesses, {
      async removeOf(writer, processId) {
        await new TunnelRows(services, goneProcessHoldMs).removeSessionsOf(writer, processId);
        await removeAbandonedCommands(writer);
      },
    });
    services.provide(agentTunnels, {
      openHost: (options) => new TunnelHost(context, options, box),
      withLabels: async (queries, accountId, labels) =>
        (await labelledTunnels(queries, accountId))
          .filter((tunnel) => hasLabels(tunnel.labels ?? {}, labels))
          .map(toRef),
      expectsLabels: async (queries, accountId, labels) =>
        (await heldLabels(queries, accountId)).some((held) => hasLabels(held, labels)),
      page: async (accountId, page) => store.page(tunnels, accountId, page),
      at: endpointsAt,
      ...recordedBy(services),
      find: async (accountId, tunnelId) => store.find(tunnels, accountId, tunnelId),
      async modulesOf({ account_id, claim_id, traffic_policy: value }) {
        // Not from the cache of the store, which knows documents by their ids: those of claims begin as those of endpoints do.
        const claim = await tunnelClaims.find(store.queries, account_id, claim_id);
        // Modules accepted these settings when the agent was bound.
        const modules = claim?.modules as Readonly<Record<string, Settings>> | undefined;
        return { ...modules, ...(value === undefined ? {} : { traffic_policy: { enabled: true, value } }) };
      },
      async ownerOf({ account_id, session_id }) {
        const session = await store.find(tunnelSessions, account_id, session_id);
        if (session === undefined) return undefined;
        return (await services.get(agentCredentials).find(account_id, session.credential_id))?.ownerId;
      },
    });
  },
};
