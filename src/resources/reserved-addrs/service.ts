import type { Queries } from '../../store/database.ts';
import { serviceKey } from '../services.ts';

export interface ReservedPorts {
  /** The id of the account's reserved address on this port. */
  find(queries: Queries, accountId: string, port: number): Promise<string | undefined>;
}

export const reservedPorts = serviceKey<ReservedPorts>('reserved addresses');
