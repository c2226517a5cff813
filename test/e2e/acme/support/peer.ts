import { once } from 'node:events';
import { connect } from 'node:tls';
import type { DetailedPeerCertificate } from 'node:tls';

export interface Peer {
  /** By the authorities that this process trusts, Caddy's among them. */
  readonly isTrusted: boolean;
  readonly certificate: DetailedPeerCertificate;
}

/** Shakes hands with a gateway as any client does. */
export async function askPeer(host: string, servername: string): Promise<Peer> {
  const socket = connect({ host, port: 443, servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  try {
    await once(socket, 'secureConnect');
    return { isTrusted: socket.authorized, certificate: socket.getPeerCertificate(true) };
  } finally {
    socket.destroy();
  }
}

/** True once the gateway shows a trusted certificate for the name; it may not know the name yet. */
export async function isServed(host: string, servername: string): Promise<boolean> {
  try {
    return (await askPeer(host, servername)).isTrusted;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME') return false;
    throw error;
  }
}
