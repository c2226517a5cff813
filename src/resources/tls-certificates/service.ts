import type { Queries } from '../../store/database.ts';
import { serviceKey } from '../services.ts';

export interface CertificateNames {
  /** Names that a certificate of the account is for, lower case; one may start with `*.`. Undefined if there is none. */
  find(queries: Queries, accountId: string, id: string): Promise<readonly string[] | undefined>;
}

export const certificateNames = serviceKey<CertificateNames>('names of certificates');
