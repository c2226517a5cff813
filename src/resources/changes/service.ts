import type { Reverter } from '../../api/reverter.ts';
import { serviceListKey } from '../services.ts';

/** What undoes the changes of each kind. */
export const reverters = serviceListKey<Reverter>('reverters of changes');
