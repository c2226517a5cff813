import type { VisitorSession } from '../../modules/sign-in.ts';
import { serviceKey } from '../services.ts';

/** Keeps the sessions of visitors, as the gateway tells of them. */
export interface Visitors {
  visitorSeen(session: VisitorSession): void;
  visitorLeft(session: Pick<VisitorSession, 'id' | 'accountId' | 'endsAt'>): void;
  /** Writes what is only in memory so far, and deletes what is over. */
  flush(sweeps?: boolean): Promise<void>;
}

/** Seals what only this installation may have written, with the keys that all its processes share. */
export interface SharedSealer {
  seal(plain: string, context: string): Promise<string>;
  /** Undefined for a text that was not sealed here for the context. */
  open(sealed: string, context: string): Promise<string | undefined>;
}

export const sharedSealer = serviceKey<SharedSealer>('shared sealer');
export const visitors = serviceKey<Visitors>('visitors');
