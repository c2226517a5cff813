import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { serviceKey } from '../services.ts';

export interface ReservedNames {
  /** The id of the account's reserved domain that covers the name: itself, or a wildcard above it. */
  find(queries: Queries, accountId: string, hostname: string): Promise<string | undefined>;
}

export interface ManagedDomain {
  readonly accountId: string;
  readonly hostname: string;
  /** Undefined: nobody asked for a certificate of an authority. */
  readonly keyType: 'ecdsa' | 'rsa' | undefined;
}

export interface ManagedDomains {
  list(queries: Queries): Promise<readonly ManagedDomain[]>;
  /** Names the certificate for the account's domain of this name, if that asks for one of an authority. */
  attach(transaction: Transaction, accountId: string, hostname: string, certificateId: string): Promise<void>;
}

export const managedDomains = serviceKey<ManagedDomains>('domains with certificates of an authority');

export const reservedNames = serviceKey<ReservedNames>('reserved domains');
