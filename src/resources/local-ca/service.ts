import type { LocalCaStorage } from '../../snapshot/local-ca.ts';
import { serviceKey } from '../services.ts';

export const localCa = serviceKey<LocalCaStorage>('local CA');
