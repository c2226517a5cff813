import type { EventStorage } from '../../events/storage.ts';
import { serviceKey } from '../services.ts';

/** For the part that sends events. */
export const eventStorage = serviceKey<EventStorage>('storage of events');
