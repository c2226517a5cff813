import type { IncomingMessage } from 'node:http';

import { parseIp } from '../../lib/ip/address.ts';
import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import { isHost } from './host-header.ts';

export interface UriOptions {
  readonly publicUrl: string | undefined;
  readonly trustedProxies: CidrSet;
}

/** The prefix of every URI in a response. Forwarding headers count only if the proxy is trusted. */
export function baseUrl({ headers, socket }: IncomingMessage, { publicUrl, trustedProxies }: UriOptions): string {
  if (publicUrl !== undefined) return publicUrl;
  // HTTP/1.0 has no Host header, and HTTP/1.1 lets it be empty.
  const host = headers.host || `${socket.localAddress}:${socket.localPort}`;
  const protocol = headers['x-forwarded-proto'];
  if (protocol === undefined && headers['x-forwarded-host'] === undefined) return `http://${host}`;
  const peer = parseIp(socket.remoteAddress ?? '');
  if (peer === undefined || trustedProxies.lookup(peer) === 0) return `http://${host}`;
  const scheme = protocol === 'https' ? 'https' : 'http';
  const forwardedHost = headers['x-forwarded-host'];
  // A value that is no host, such as that of two headers, names nobody: the request's own host does.
  const isUsable = typeof forwardedHost === 'string' && forwardedHost !== '' && isHost(forwardedHost);
  return `${scheme}://${isUsable ? forwardedHost : host}`;
}
