import type { Queries } from '../../store/database.ts';
import { serviceKey } from '../services.ts';

export interface ClientAuthorities {
  /** Certificates in PEM, by id; those that do not exist are left out. */
  pems(queries: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Names that people know them by, by id. */
  names(queries: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export const clientAuthorities = serviceKey<ClientAuthorities>('authorities of client certificates');
