import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';

import type { LocalCa } from '../../gateway/certificates/local-ca.ts';
import { linkName } from '../../links/link-tls.ts';
import type { LinkCredentials } from '../../links/link-tls.ts';

/** Certificates of this process for links, made when they are needed, and anew after two thirds of their validity. */
export function linkCredentials(localCa: LocalCa, processId: string): LinkCredentials {
  let made: Promise<SecureContext> | undefined;
  let renewAtMs = 0;
  const make = async (): Promise<SecureContext> => {
    const { certificatePem, privateKeyPem, notBefore, notAfter } = await localCa.issueForPeer(
      linkName(processId),
      new Date(),
    );
    renewAtMs = notAfter.getTime() - (notAfter.getTime() - notBefore.getTime()) / 3;
    return createSecureContext({
      cert: certificatePem,
      key: privateKeyPem,
      ca: localCa.caCertificatePem,
      minVersion: 'TLSv1.3',
    });
  };
  return () => {
    if (made !== undefined && Date.now() < renewAtMs) return made;
    // Set at once, so that those who ask meanwhile wait for the same one.
    renewAtMs = Infinity;
    const making = make();
    making.catch(() => {
      renewAtMs = 0;
    });
    made = making;
    return making;
  };
}
