import type { Inspections } from '../../observe/inspections.ts';
import { serviceKey } from '../services.ts';

/** What is inspected through this process. */
export const inspections = serviceKey<Inspections>('inspections');
