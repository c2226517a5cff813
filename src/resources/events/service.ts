import type { EventStorage } from '../../events/storage.ts';
import type { TakeMail } from '../../events/targets/email.ts';
import type { Send } from '../../events/targets.ts';
import { serviceKey } from '../services.ts';

/** For the part that sends events. */
export const eventStorage = serviceKey<EventStorage>('storage of events');

/** One attempt at a target; where this process serves the API. */
export const eventSend = serviceKey<Send>('sending of events');

/** Tells whether somebody of the account is told of events of a type. */
export const toldOf = serviceKey<(accountId: string, type: string) => Promise<boolean>>(
  'types that somebody is told of',
);

/** Counts e-mail of accounts. */
export const takeMail = serviceKey<TakeMail>('counting of e-mail');
