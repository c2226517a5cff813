import type { VisitorSession } from '../../modules/sign-in.ts';
import { serviceKey } from '../services.ts';

/** Keeps the sessions of visitors, as the gateway tells of them. */
export interface Visitors {
  visitorSeen(session: VisitorSession): void;
  visitorLeft(session: Pick<VisitorSession, 'id' | 'accountId' | 'endsAt'>): void;
  /** Writes what is only in memory so far, and deletes what is over. */
  flush(sweeps?: boolean): Promise<void>;
}

export const visitors = serviceKey<Visitors>('visitors');
