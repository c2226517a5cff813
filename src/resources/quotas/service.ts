import type { Usage } from '../../store/usage.ts';
import { serviceKey } from '../services.ts';

export interface NearQuotas {
  /** Accounts that have used four fifths of a quota or more, the nearest first. */
  list(count: number): Promise<readonly (Usage & { readonly accountId: string })[]>;
}

export const nearQuotas = serviceKey<NearQuotas>('accounts near a quota');
