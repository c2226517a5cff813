import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import { clientCertificateRefused, clientCertificateRequired } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { readValidity } from '../../lib/certificate-validity.ts';
import { connectionPredatesRules } from '../errors.ts';

/** The outcome of asking a client for a certificate in its handshake. */
export interface ShownCertificate {
  /** PEM of the authorities by which it was checked. */
  readonly ca: string;
  /** Common name, or the whole subject; undefined if no certificate was shown. */
  readonly subject: string | undefined;
  /** Code of OpenSSL, such as `CERT_HAS_EXPIRED`; undefined if the certificate was found to be good. */
  readonly fault: string | undefined;
  /** Headers by which upstreams are told of it: names and values. */
  readonly facts: readonly string[];
  /** Milliseconds since 1970, at which the first certificate of its chain expires. */
  readonly validUntilMs: number;
}

/** Most characters of a fact. */
const longestText = 1024;
/** Certificates of a chain that are looked at; OpenSSL takes no longer ones. */
const longestChain = 100;

/** Reads the result of a handshake that asked for a certificate by these authorities. */
export function readShownCertificate(socket: TLSSocket, ca: string): ShownCertificate {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return { ca, subject: undefined, fault: 'NONE', facts: [], validUntilMs: 0 };
  const fault = socket.authorized ? undefined : String(socket.authorizationError);
  return { ca, subject: subjectOf(leaf), fault, facts: factsOf(leaf), validUntilMs: endOf(leaf) };
}

/**
 * Checks a client by the authorities that are asked for now. Must be called for each request, not only once for each
 * connection: what is asked for may have changed since the handshake, and a certificate may have expired.
 */
export function checkShownCertificate(
  ca: string | undefined,
  shown: ShownCertificate | undefined,
  nowMs = Date.now(),
): UserError | undefined {
  if (ca === undefined) return undefined;
  if (shown?.ca !== ca) return new UserError(connectionPredatesRules);
  if (shown.subject === undefined) return new UserError(clientCertificateRequired);
  const fault = shown.fault ?? (nowMs < shown.validUntilMs ? undefined : 'CERT_HAS_EXPIRED');
  if (fault === undefined) return undefined;
  return new UserError(clientCertificateRefused, { subject: quote(shown.subject), reason: fault });
}

function subjectOf({ subject }: X509Certificate): string {
  const lines = (subject ?? '').split('\n');
  return lines.find((line) => line.startsWith('CN='))?.slice(3) ?? lines.join(', ');
}

function factsOf({ subject, subjectAltName, serialNumber, fingerprint256 }: X509Certificate): readonly string[] {
  return [
    'X-Client-Cert-Subject',
    headerText((subject ?? '').split('\n').join(', ')),
    'X-Client-Cert-Names',
    headerText(subjectAltName ?? ''),
    'X-Client-Cert-Serial',
    serialNumber.toLowerCase(),
    'X-Client-Cert-Fingerprint',
    fingerprint256.replaceAll(':', '').toLowerCase(),
  ];
}

/** Whoever has the certificate made chose these texts: all but printable ASCII is written as in a URI. */
function headerText(text: string): string {
  return text
    .slice(0, longestText)
    .replaceAll(/[^\x20-\x24\x26-\x7e]/gu, (each) => encodeURIComponent(each.toWellFormed()));
}

function endOf(leaf: X509Certificate): number {
  let end = Infinity;
  let certificate: X509Certificate | undefined = leaf;
  for (let depth = 0; certificate !== undefined && depth < longestChain; depth++) {
    end = Math.min(end, readValidity(certificate).notAfter.getTime());
    certificate = certificate.issuerCertificate;
  }
  return end;
}
