import { connect } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';

import { connectThroughGate } from '../lib/handshake-gate.ts';
import type { ListenAddress } from '../lib/host-port.ts';

/**
 * Proof that this process belongs to the installation: a certificate of the local CA whose only name is `linkName` of the
 * process, and that CA as the only one that is trusted. It is renewed before it expires.
 */
export type LinkCredentials = () => Promise<SecureContext>;

/** Named in the handshake, so that the listener can choose its newest certificate. No such name can be registered. */
const serverName = 'link.gatehouse.invalid';
/** Tells versions of what is spoken over links apart. */
export const linkProtocol = 'gatehouse-link/1';
const namePattern = /^URI:urn:gatehouse:link:(proc_[0-9A-Za-z]+)$/;

/** The name in the certificate of a process. A URI: certificates for edges and agents have host names and addresses only. */
export function linkName(processId: string): string {
  return `urn:gatehouse:link:${processId}`;
}

/** The process that a certificate of the local CA was made for; undefined for one that was made for anything else. */
export function readLinkName(alternativeNames: string | undefined): string | undefined {
  return namePattern.exec(alternativeNames ?? '')?.[1];
}

/** Connects to the process. Rejects if another one answers, or when the signal aborts. */
export async function connectLink(
  { host, port }: ListenAddress,
  processId: string,
  credentials: LinkCredentials,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secureContext = await credentials();
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connectThroughGate(connect({ host, port, noDelay: true }), {
    secureContext,
    servername: serverName,
    ALPNProtocols: [linkProtocol],
    checkServerIdentity: (_name, { subjectaltname }) =>
      readLinkName(subjectaltname) === processId ? undefined : new Error(`it is not the process ${processId}`),
  });
  const abort = (): void => void socket.destroy(new Error('it did not answer in time'));
  signal.addEventListener('abort', abort);
  socket
    .on('error', reject)
    .once('close', () => {
      reject(new Error('the connection was closed'));
    })
    .once('secureConnect', () => {
      if (socket.alpnProtocol === linkProtocol) resolve(socket);
      else socket.destroy(new Error('it speaks another version of links'));
    });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
