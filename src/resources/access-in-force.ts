import type { AccessTable } from '../snapshot/access.ts';
import { serviceKey } from './services.ts';

/** The rules that this process obeys, which answer without a query. */
export const accessInForce = serviceKey<Pick<AccessTable, 'allows'>>('rules in force');
