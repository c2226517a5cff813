import type { LeftSession, VisitorSession } from '../../modules/sign-in.ts';
import type { KeptLogins } from '../../sign-in/kept-logins.ts';
import { serviceKey } from '../services.ts';

/** Keeps the sessions of visitors, as the gateway tells of them. */
export interface Visitors {
  visitorSeen(session: VisitorSession): void;
  visitorLeft(session: LeftSession): void;
  /** Resolves when everything so far was tried to be written. With the database away it stays in memory. */
  flush(): Promise<void>;
}

/** Seals what only this installation may have written, with the keys that all its processes share. */
export interface SharedSealer {
  seal(plain: string, context: string): Promise<string>;
  /** Undefined for a text that was not sealed here for the context. */
  open(sealed: string, context: string): Promise<string | undefined>;
}

/** Logins behind sessions of visitors. */
export const keptLogins = serviceKey<KeptLogins>('kept logins');
export const sharedSealer = serviceKey<SharedSealer>('shared sealer');
export const visitors = serviceKey<Visitors>('visitors');
