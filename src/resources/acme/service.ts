import type { AcmeStorage, Job } from '../../acme/storage.ts';
import type { Queries } from '../../store/database.ts';
import { serviceKey } from '../services.ts';

/** For the part that orders certificates. */
export const acmeStorage = serviceKey<AcmeStorage>('storage of ACME');

export interface CertificateJobs {
  /** The state of the account's certificate for exactly this name. */
  find(queries: Queries, accountId: string, hostname: string): Promise<Job | undefined>;
}

export const certificateJobs = serviceKey<CertificateJobs>('jobs of certificates');

export interface CertificateTroubles {
  /**
   * A warning with the words of the authority about those of the names whose certificate could not be obtained or renewed;
   * undefined if there are none. One that another valid certificate covers counts only if that is asked for.
   */
  warningFor(
    queries: Queries,
    accountId: string,
    hostnames: readonly string[],
    evenIfCovered?: boolean,
  ): Promise<string | undefined>;
}

export const certificateTroubles = serviceKey<CertificateTroubles>('troubles with certificates');
