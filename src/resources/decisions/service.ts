import type { Decisions } from '../../decisions/decisions.ts';
import { serviceKey } from '../services.ts';

/** Decisions that this process keeps; not provided where it keeps none. */
export const keptDecisions = serviceKey<Pick<Decisions, 'gateway' | 'ask' | 'dropped'>>('kept decisions');
