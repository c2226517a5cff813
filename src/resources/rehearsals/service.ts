import type { Operation } from '../../api/operation.ts';
import { serviceListKey } from '../services.ts';

/** Every operation of the API: some of them can be rehearsed. */
export const allOperations = serviceListKey<Pick<Operation, 'isRehearsable' | 'errors'>>('operations of the API');
