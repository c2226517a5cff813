import type { ListenAddress } from '../lib/host-port.ts';
import type { Config } from './config.ts';

/** Port at which visitors reach a name, as it stands in URLs. */
export type VisitorPort = (hostname: string) => number;

const plainPort = 80;

/** HTTPS and TLS; every URL that is shown has the port from here. */
export function httpsVisitorPort({ agentUrlPort, httpsListen, httpsPort }: Config): VisitorPort {
  return (hostname) => agentUrlPort ?? portOf(hostname, httpsListen, httpsPort);
}

/** HTTP without TLS; undefined where it is not served. */
export function httpVisitorPort({ httpListen }: Config): VisitorPort | undefined {
  return httpListen && ((hostname) => portOf(hostname, httpListen, plainPort));
}

/** Names below localhost lead to this machine itself, where nothing stands before the listener. */
function portOf(hostname: string, listen: ListenAddress | undefined, publicPort: number): number {
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  // A port that the system chooses is not known yet.
  return (isLocal && listen?.port) || publicPort;
}
