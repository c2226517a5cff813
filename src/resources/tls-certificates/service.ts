import type { CertificatePair } from '../../snapshot/local-ca.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { serviceKey } from '../services.ts';

export interface CertificateNames {
  /** Names that a certificate of the account is for, lower case; one may start with `*.`. Undefined if there is none. */
  find(queries: Queries, accountId: string, id: string): Promise<readonly string[] | undefined>;
  /** True if a certificate of the account that is valid now is for the name; `exceptId` does not count. */
  isCovered(queries: Queries, accountId: string, hostname: string, exceptId?: string): Promise<boolean>;
}

export const certificateNames = serviceKey<CertificateNames>('names of certificates');

/** Certificates that an authority has issued to this installation. */
export interface IssuedCertificates {
  /** Returns the id of the certificate, which is served once the transaction is committed. */
  add(transaction: Transaction, accountId: string, pair: CertificatePair): Promise<string>;
  /** Deletes one that was issued, that nothing names, and that has ended by then. Returns true if it is gone. */
  removeUnused(transaction: Transaction, accountId: string, id: string, endedMs?: number): Promise<boolean>;
}

export const issuedCertificates = serviceKey<IssuedCertificates>('issued certificates');

export interface PairChecks {
  /** Throws unless the certificate can be served with this key. No message repeats the key. */
  check(certificatePem: string, privateKeyPem: string): void;
}

export const pairChecks = serviceKey<PairChecks>('checks of certificates and their keys');

/** When certificates end. */
export interface EndsOfCertificates {
  /** Ids and times in milliseconds, the ones that end first. */
  first(count: number): readonly (readonly [id: string, notAfterMs: number])[];
  /** Certificates that are warned of, the ones that end first. */
  soon(nowMs: number): readonly (readonly [id: string, source: 'issued' | 'uploaded'])[];
}

export const certificateEnds = serviceKey<EndsOfCertificates>('ends of certificates');
