import type { SecureContext } from 'node:tls';

import type { SnapshotFollower } from '../../../snapshot/contract.ts';

/** Provides the certificates that the HTTPS front shows. */
export interface CertificateSource extends SnapshotFollower {
  /**
   * `accountId` is the account whose edge serves the name, undefined if none does; a certificate that another account
   * uploaded must not be used. `servername` is a valid DNS name in lower case. Rejecting ends the handshake.
   */
  secureContextFor(accountId: string | undefined, servername: string): Promise<SecureContext>;
}
