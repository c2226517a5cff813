import type { EventStorage } from '../../events/storage.ts';
import type { Send } from '../../events/targets.ts';
import { serviceKey } from '../services.ts';

/** For the part that sends events. */
export const eventStorage = serviceKey<EventStorage>('storage of events');

/** One attempt at a target; where this process serves the API. */
export const eventSend = serviceKey<Send>('sending of events');
