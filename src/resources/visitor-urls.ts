import type { ResourceSettings } from './resource.ts';

type Ports = Pick<ResourceSettings, 'httpsUrlPort' | 'httpUrlPort'>;

/** The URL of a name that visitors come to by TLS, as a browser can open it; https for everything that is HTTP. */
export function secureUrl(proto: 'https' | 'tls', hostname: string, { httpsUrlPort }: Ports): string {
  const port = httpsUrlPort(hostname);
  return proto === 'https' && port === 443 ? `https://${hostname}` : `${proto}://${hostname}:${port}`;
}
