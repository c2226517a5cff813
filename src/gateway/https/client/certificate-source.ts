import type { SecureContext } from 'node:tls';

import type { HandshakeFault } from '../../engine.ts';
import type { SnapshotFollower } from '../../../snapshot/contract.ts';

/** Provides the certificates that the HTTPS front shows. */
export interface CertificateSource extends SnapshotFollower {
  /**
   * `accountId` is the account whose edge serves the name; a certificate that another account uploaded must not be used.
   * Undefined if no edge does: then a certificate that was uploaded for the name shows the client a page that says so.
   * `servername` is a valid DNS name in lower case. `clientCa` is the PEM of the authorities by which certificates of
   * clients are checked. Rejecting ends the handshake, with `NoCertificate` by the alert `unrecognized_name`.
   */
  secureContextFor(accountId: string | undefined, servername: string, clientCa?: string): Promise<SecureContext>;
}

/** There is nothing to show for the name. */
export class NoCertificate extends Error {
  override readonly name = 'NoCertificate';
  readonly fault: Extract<HandshakeFault, 'unknown_name' | 'no_certificate'>;

  constructor(message: string, fault: NoCertificate['fault'] = 'unknown_name') {
    super(message);
    this.fault = fault;
  }
}
