import { serviceKey } from '../services.ts';

/** Where all processes of an installation find the one certificate authority they share. */
export interface LocalCaStorage {
  load(): Promise<CertificatePair | undefined>;
  /** The first writer wins; answers what is stored. */
  save(pair: CertificatePair): Promise<CertificatePair>;
}

export interface CertificatePair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

export const localCa = serviceKey<LocalCaStorage>('local CA');
