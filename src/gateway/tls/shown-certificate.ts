import type { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

import { quote } from '../../errors/user-error.ts';
import { readValidity } from '../../lib/certificate-validity.ts';
import { certificateFault } from '../../modules/shown-certificate.ts';
import type { ShownCertificate } from '../../modules/shown-certificate.ts';

/** Most characters of a fact. */
const longestText = 1024;
/** Certificates of a chain that are looked at; OpenSSL takes no longer ones. */
const longestChain = 100;

/** Reads the result of a handshake that asked for a certificate by these authorities. */
export function readShownCertificate(socket: TLSSocket, ca: string): ShownCertificate {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return { ca, subject: undefined, fault: 'NONE', facts: [], validUntilMs: 0 };
  const fault = socket.authorized ? undefined : String(socket.authorizationError);
  return { ca, subject: subjectOf(leaf), fault, facts: factsOf(leaf), validUntilMs: endOf(socket) };
}

/** Why the certificate is refused, for the owner of the edge; undefined if it is good. */
export function describeRefusal(shown: ShownCertificate): string | undefined {
  if (shown.subject === undefined) return 'the client showed no certificate';
  const fault = certificateFault(shown, Date.now());
  return fault === undefined ? undefined : `the client certificate ${quote(shown.subject)} is refused: ${fault}`;
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

/**
 * Clients send their own certificate and seldom those above it: only the detailed form has the authority that was found
 * here. Anybody can show a certificate whose dates are none: such a one has ended.
 */
function endOf(socket: TLSSocket): number {
  let end = Infinity;
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  try {
    for (let depth = 0; certificate !== undefined && depth < longestChain; depth++) {
      end = Math.min(end, readValidity(certificate).notAfter.getTime());
      const { issuerCertificate }: DetailedPeerCertificate = certificate;
      // The topmost one names itself.
      certificate = issuerCertificate === certificate ? undefined : issuerCertificate;
    }
  } catch {
    return 0;
  }
  return end;
}
