import type { Config } from '../config/config.ts';
import { hasApi, hasGateway, servesAgents } from '../config/roles.ts';
import type { Registration } from '../resources/processes/service.ts';
import type { Listener } from '../snapshot/contract.ts';

/** The listeners that the settings ask for, by the role of the process. */
export function configuredListeners(config: Config): readonly Listener[] {
  const { apiListen, metricsListen, httpsListen, httpListen, tcpListenHost } = config;
  const listeners: Listener[] = [];
  if (hasApi(config)) listeners.push({ kind: 'api', ...apiListen });
  if (metricsListen !== undefined) listeners.push({ kind: 'metrics', ...metricsListen });
  if (hasGateway(config)) {
    if (httpsListen !== undefined) listeners.push({ kind: 'https', ...httpsListen });
    if (httpListen !== undefined) listeners.push({ kind: 'http', ...httpListen });
    listeners.push({ kind: 'tcp', host: tcpListenHost, port: 0 });
  }
  return [...listeners, ...agentListeners(config)];
}

/** That of agents, and that of other processes which have visitors for these agents. */
function agentListeners(config: Config): readonly Listener[] {
  const { agentListen, linkListen, linkAddress } = config;
  if (agentListen === undefined || !servesAgents(config)) return [];
  const agents: Listener = { kind: 'agents', ...agentListen };
  if (linkListen === undefined) return [agents];
  return [agents, { kind: 'links', ...linkListen, ...(linkAddress && { advertised: linkAddress }) }];
}

/** The ports at which the world finds HTTPS edges, the redirect to them and the API; those of TCP edges are their own. */
export function publicPorts({ httpsPort, httpListen, publicUrl }: Config): readonly number[] {
  const ports = [httpsPort];
  if (httpListen !== undefined) ports.push(80);
  if (publicUrl !== undefined)
    ports.push(Number(new URL(publicUrl).port || (publicUrl.startsWith('https') ? 443 : 80)));
  return ports;
}

/** Tells the others which ports the system has chosen, where the settings leave it to the system. */
export async function announcePorts(
  registration: Registration,
  config: Config,
  opened: Readonly<Partial<Record<Listener['kind'], number | undefined>>>,
): Promise<void> {
  const configured = configuredListeners(config);
  const actual = configured.map((listener) => ({ ...listener, port: listener.port || (opened[listener.kind] ?? 0) }));
  if (actual.some(({ port }, at) => port !== configured[at]?.port)) await registration.update(actual);
}
