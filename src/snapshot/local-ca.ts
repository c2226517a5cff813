export interface CertificatePair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Storage of the one certificate authority that all processes of an installation share. */
export interface LocalCaStorage {
  load(): Promise<CertificatePair | undefined>;
  /** The first writer wins; returns what is stored, which may be another process's pair. */
  save(pair: CertificatePair): Promise<CertificatePair>;
}
