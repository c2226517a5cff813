import { once } from 'node:events';
import { createServer } from 'node:net';

import type { Config } from '../../config/config.ts';
import { hasApi, hasGateway, servesAgents } from '../../config/roles.ts';
import { fault, ok } from './finding.ts';
import type { Finding } from './finding.ts';

interface Listener {
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/** Addresses that the service would listen on, and whether it can. */
export async function checkPorts(config: Config, isRunning: boolean): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const listener of listenersOf(config)) findings.push(await checkPort(listener, isRunning));
  return findings;
}

function listenersOf(config: Config): readonly Listener[] {
  const { apiListen, httpsListen, httpListen, metricsListen, agentListen, linkListen } = config;
  const listeners = {
    GATEHOUSE_API_LISTEN: hasApi(config) ? apiListen : undefined,
    GATEHOUSE_HTTPS_LISTEN: hasGateway(config) ? httpsListen : undefined,
    GATEHOUSE_HTTP_LISTEN: hasGateway(config) ? httpListen : undefined,
    GATEHOUSE_METRICS_LISTEN: metricsListen,
    GATEHOUSE_AGENT_LISTEN: servesAgents(config) ? agentListen : undefined,
    GATEHOUSE_LINK_LISTEN: linkListen,
  };
  return Object.entries(listeners).flatMap(([setting, address]) =>
    address === undefined ? [] : [{ setting, host: address.host, port: address.port }],
  );
}

async function checkPort({ setting, host, port }: Listener, isRunning: boolean): Promise<Finding> {
  const subject = `port ${host}:${port}`;
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return ok(subject, `it is free (${setting})`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'EADDRINUSE' && isRunning) return ok(subject, `it is taken, and the service runs (${setting})`);
    return fault(subject, `${reasons[code] ?? `it cannot be used: ${code}`}, or choose another with ${setting}`);
  } finally {
    server.close();
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there: end it',
  EACCES: 'this user may not listen there: give it CAP_NET_BIND_SERVICE (ports below 1024 need it)',
  EADDRNOTAVAIL: 'this machine has no such address: correct it',
};

/** True if a Gatehouse answers where this one would have its API. */
export async function isServiceRunning(config: Config): Promise<boolean> {
  return hasApi(config) && (await answers(config.apiListen));
}

async function answers({ host, port }: Config['apiListen']): Promise<boolean> {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  try {
    const response = await fetch(`http://${reached}:${port}/healthz`, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.headers.has('gatehouse-operation-id');
  } catch {
    return false;
  }
}
