import { createHash, timingSafeEqual } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

import { writePem } from '../lib/pem.ts';

/** Certificates of a chain that are looked at. */
const longestChain = 10;

/** SHA-256 of the certificate of an authority. */
export type Fingerprint = Buffer & { readonly isFingerprint?: true };

/** Reads `sha256:` and 64 hexadecimal digits, with colons between them or not; undefined for anything else. */
export function parseFingerprint(text: string): Fingerprint | undefined {
  const [, digits] = /^sha256:((?:[\da-f]{2}:?){31}[\da-f]{2})$/i.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Buffer.from(digits.replaceAll(':', ''), 'hex');
}

export function formatFingerprint(fingerprint: Uint8Array): string {
  return `sha256:${Buffer.from(fingerprint).toString('hex')}`;
}

/** Result of the search for an authority, of which only the fingerprint is known, in what a server has shown. */
export interface ShownAuthority {
  /** PEM of the authority; undefined if the server has not shown it. */
  readonly pem: string | undefined;
  /** Fingerprint of the topmost certificate that it has shown. */
  readonly shown: string;
}

/**
 * Finds the authority in the chain of a server. Anybody can show its certificate: the connection must be made again, and
 * verified by it.
 */
export function findAuthority(socket: TLSSocket, fingerprint: Fingerprint): ShownAuthority {
  let shown = '';
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  for (let depth = 0; depth < longestChain && certificate?.raw !== undefined; depth++) {
    const digest = createHash('sha256').update(certificate.raw).digest();
    shown = formatFingerprint(digest);
    if (timingSafeEqual(digest, fingerprint)) return { pem: writePem('CERTIFICATE', certificate.raw), shown };
    const { issuerCertificate }: DetailedPeerCertificate = certificate;
    // The topmost one names itself.
    certificate = issuerCertificate === certificate ? undefined : issuerCertificate;
  }
  return { pem: undefined, shown };
}
