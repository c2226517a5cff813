import { once } from 'node:events';
import { createServer } from 'node:net';

import { AgentPort } from '../agents/server/agent-port.ts';
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

/**
 * Rejects where the API or the metrics cannot listen: found before anything is opened, a second start by mistake takes no
 * traffic from the first. The ports of traffic may be shared by the workers of one process.
 */
export async function checkPorts(config: Config): Promise<void> {
  for (const { kind, host, port } of configuredListeners(config)) {
    if ((kind !== 'api' && kind !== 'metrics') || port === 0) continue;
    await tryListening(host, port);
  }
}

/** False if another program has the port; other obstacles are not those of one port. */
export async function canListen(host: string, port: number): Promise<boolean> {
  try {
    await tryListening(host, port);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE');
  }
}

async function tryListening(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/** Undefined where agents do not connect to this process. */
export async function openAgentPort(config: Config, descriptor: number | undefined): Promise<AgentPort | undefined> {
  const { agentListen: listen, agentPending } = config;
  if (listen === undefined || !servesAgents(config)) return undefined;
  return AgentPort.open({ listen, descriptor, maxWaiting: agentPending });
}

/** The listener of agents, and that of other processes which have visitors for these agents, or count with this one. */
function agentListeners(config: Config): readonly Listener[] {
  const { role, agentListen, linkListen, linkAddress } = config;
  if (role === 'api') return [];
  const listeners: Listener[] = [];
  if (agentListen !== undefined) listeners.push({ kind: 'agents', ...agentListen });
  if (linkListen !== undefined)
    listeners.push({ kind: 'links', ...linkListen, ...(linkAddress && { advertised: linkAddress }) });
  return listeners;
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
