import type { CertificatePair } from '../snapshot/local-ca.ts';
import type { ChallengeEntry } from '../snapshot/contract.ts';
import type { PastOrder } from './shares.ts';

export type KeyType = 'ecdsa' | 'rsa';

/** The state of the certificate for one name of an account. Times are RFC 3339. */
export interface Job {
  readonly accountId: string;
  /** Lower case; may start with `*.`. */
  readonly hostname: string;
  readonly keyType: KeyType;
  /** Failures since the last certificate. */
  readonly failures: number;
  /** Start of the attempt that is under way or has failed. */
  readonly startedAt?: string;
  /** Not tried before. */
  readonly retriesAt?: string;
  readonly error?: { readonly code: number; readonly message: string };
  /** The order at the authority that is not finished. */
  readonly orderUrl?: string;
  /** The certificate that was issued last. */
  readonly certificateId?: string;
  readonly renewsAt?: string;
  /** The name by which the authority knows the certificate in questions about its renewal. */
  readonly renewalId?: string;
  /** The authority is not asked about the renewal before. */
  readonly asksAt?: string;
}

export interface StoredAccount {
  readonly keyPem: string;
  /** Undefined until the authority knows the key. */
  readonly url?: string;
  /** When it was made in place of one that the authority did not accept any more, RFC 3339. */
  readonly replacedAt?: string;
}

export interface NewCertificate extends CertificatePair {
  readonly renewsAt: string;
  readonly renewalId?: string | undefined;
}

/** The lease went to another process: nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** Everything that orders need to outlive the process. Each write but `takeLease` throws `LeaseLostError` without the lease. */
export interface AcmeStorage {
  /** Takes or renews the lease. Undefined while another process has it; `taken` if it was not ours before. */
  takeLease(holder: string, leaseMs: number): Promise<'taken' | 'renewed' | undefined>;
  releaseLease(holder: string): Promise<void>;
  loadJobs(): Promise<readonly Job[]>;
  /** The private key that the job's order is for. */
  loadKey(job: Job): Promise<string | undefined>;
  /** Keeps the key that is stored unless one is given. */
  saveJob(holder: string, job: Job, keyPem?: string): Promise<void>;
  loadAccount(directory: string): Promise<StoredAccount | undefined>;
  saveAccount(holder: string, directory: string, account: StoredAccount): Promise<void>;
  /** Notes that an order is about to be made. */
  noteOrder(holder: string, order: PastOrder, nowMs: number): Promise<void>;
  loadOrders(sinceMs: number): Promise<readonly PastOrder[]>;
  /** Resolves when this process answers the challenge; other gateways follow shortly after. */
  publish(holder: string, challenge: ChallengeEntry): Promise<void>;
  /** Undefined: all of them. */
  withdraw(holder: string, id: string | undefined): Promise<void>;
  /** Puts the certificate in force in place of the job's former one, and ends the attempt. Returns its id. */
  install(holder: string, job: Job, issued: NewCertificate): Promise<string>;
  /**
   * Deletes a job with its keys and its certificate. Returns false, and deletes nothing, if something names the certificate or
   * it ends after the time.
   */
  forget(holder: string, job: Job, endedMs: number): Promise<boolean>;
}
