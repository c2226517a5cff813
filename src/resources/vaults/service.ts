import type { Queries } from '../../store/database.ts';
import { serviceKey } from '../services.ts';

/** Secrets by the names that policies use; values are read by the gateway alone. */
export interface VaultNames {
  /** Whether the account has the vault, and the vault the secret. */
  find(queries: Queries, accountId: string, vault: string, secret: string): Promise<'found' | 'no vault' | 'no secret'>;
}

export const vaultNames = serviceKey<VaultNames>('vaults');
