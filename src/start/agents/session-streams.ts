import { StreamRefused } from '../../links/stream-request.ts';
import type { OpenStream } from '../../links/stream-request.ts';
import type { AgentTunnel } from '../../agents/server/agent-tunnel.ts';
import type { OpenAgentHost } from '../../resources/tunnels/service.ts';

const edgeTypes = { http: 'https', https: 'https', tcp: 'tcp', tls: 'tls' } as const;

/** Opens streams through the sessions that this process itself holds. */
export function sessionStreams(host: Pick<OpenAgentHost, 'sessionOf' | 'bound'>): OpenStream {
  const find = (tunnelId: string): AgentTunnel | undefined => {
    const tunnel = host.sessionOf(tunnelId)?.tunnels.get(tunnelId);
    return tunnel?.session.isOpen === true && !tunnel.session.isDraining ? tunnel : undefined;
  };
  return async ({ tunnelId, address, proto, isTls }, user) => {
    let tunnel = find(tunnelId);
    if (tunnel === undefined) {
      // Gateways may hear of a tunnel before its agent has been answered.
      await host.bound();
      tunnel = find(tunnelId);
    }
    if (tunnel === undefined) throw new StreamRefused('gone', `the tunnel ${tunnelId} is gone`);
    const visitor = { clientAddr: address, proto, edgeType: edgeTypes[proto], passthroughTls: isTls };
    const stream = tunnel.open(visitor, user);
    if (stream === undefined)
      throw new StreamRefused('full', `the session of ${tunnelId} has no room for another connection`);
    user.attach(stream);
  };
}
