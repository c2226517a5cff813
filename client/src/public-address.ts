import type { PublicAddresses } from './generated.ts';

/** Host and port at which visitors reach a hostport of an HTTPS or TLS edge, which may lead through another port than it names. */
export function visitorAddress(
  hostport: string,
  ports: Pick<PublicAddresses, 'https_port' | 'local_https_port'>,
): { readonly host: string; readonly port: number } {
  const host = hostport.replace(/:\d+$/, '');
  const isLocal = host === 'localhost' || host.endsWith('.localhost');
  return { host, port: isLocal ? ports.local_https_port : ports.https_port };
}

/** The URL that a browser opens; undefined for a wildcard, which stands for many names. */
export function visitorUrl(...[hostport, ports]: Parameters<typeof visitorAddress>): string | undefined {
  const { host, port } = visitorAddress(hostport, ports);
  if (host.startsWith('*')) return undefined;
  return port === 443 ? `https://${host}` : `https://${host}:${port}`;
}
