import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import type { CertificatePair } from '../../src/snapshot/local-ca.ts';
import { writeScratch } from './peer-programs.ts';

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  /** Path of one file with the certificate and the key. */
  readonly both: string;
}

let files: Promise<CertificateFiles> | undefined;

/** Makes a certificate for `localhost` of the kind that Gatehouse issues (ECDSA, P-256), for the peers. */
export function certificateFiles(): Promise<CertificateFiles> {
  return (files ??= issue());
}

async function issue(): Promise<CertificateFiles> {
  const ca = await openLocalCa({ load: async () => undefined, save: async (pair: CertificatePair) => pair });
  const { certificatePem, privateKeyPem } = await ca.issue('localhost', new Date());
  return {
    certificate: await writeScratch('certificate.pem', certificatePem),
    key: await writeScratch('key.pem', privateKeyPem),
    both: await writeScratch('both.pem', certificatePem + privateKeyPem),
  };
}
