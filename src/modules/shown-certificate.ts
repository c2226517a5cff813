import { clientCertificateRefused, clientCertificateRequired, connectionPredatesRules } from '../errors/shared.ts';
import { quote, UserError } from '../errors/user-error.ts';

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

/**
 * Checks a client by the authorities that are asked for now. Must be called for each request, not only once for each
 * connection: what is asked for may have changed since the handshake, and a certificate may have expired.
 */
export function checkShownCertificate(
  ca: string,
  shown: ShownCertificate | undefined,
  nowMs = Date.now(),
): UserError | undefined {
  if (shown?.ca !== ca) return new UserError(connectionPredatesRules);
  if (shown.subject === undefined) return new UserError(clientCertificateRequired);
  const fault = certificateFault(shown, nowMs);
  if (fault === undefined) return undefined;
  return new UserError(clientCertificateRefused, { subject: quote(shown.subject), reason: fault });
}

/** The code of its fault; undefined if it is good. */
export function certificateFault({ fault, validUntilMs }: ShownCertificate, nowMs: number): string | undefined {
  return fault ?? (nowMs < validUntilMs ? undefined : 'CERT_HAS_EXPIRED');
}
