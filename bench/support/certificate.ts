import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import type { CertificatePair } from '../../src/snapshot/local-ca.ts';
import { writeScratch } from './peer-programs.ts';

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  /** Path of one file with the certificate and the key. */
  readonly both: string;
}

const files = new Map<string, Promise<CertificateFiles>>();

/** Makes a certificate of the kind that Gatehouse issues (ECDSA, P-256), for the peers. */
export function certificateFiles(host = 'localhost'): Promise<CertificateFiles> {
  const known = files.get(host) ?? issue(host);
  files.set(host, known);
  return known;
}

async function issue(host: string): Promise<CertificateFiles> {
  const ca = await openLocalCa({ load: async () => undefined, save: async (pair: CertificatePair) => pair });
  const { certificatePem, privateKeyPem } = await ca.issue(host, new Date());
  return {
    certificate: await writeScratch('certificate.pem', certificatePem),
    key: await writeScratch('key.pem', privateKeyPem),
    both: await writeScratch('both.pem', certificatePem + privateKeyPem),
  };
}
