import { keepPairs } from '../../../lib/header-list.ts';
import { foldName } from '../../../lib/http-syntax.ts';

/** Headers by which upstreams are told of the certificate of a client; no client may set these. */
export const certificateFactNames = [
  'x-client-cert-subject',
  'x-client-cert-names',
  'x-client-cert-serial',
  'x-client-cert-fingerprint',
] as const;

const folded: ReadonlySet<string> = new Set(certificateFactNames.map(foldName));

/** The headers with these facts in place of any of their names. */
export function withCertificateFacts(headers: readonly string[], facts: readonly string[]): readonly string[] {
  return [...keepPairs(headers, (name) => !folded.has(foldName(name.toLowerCase()))), ...facts];
}
