import type { Transaction } from '../../store/write/transaction.ts';
import { serviceKey } from '../services.ts';
import type { Acl } from './acl.ts';

/** A credential whose token was shown, as far as a session of an agent needs it. */
export interface AgentCredential {
  readonly id: string;
  readonly accountId: string;
  readonly ownerId: string;
  readonly acl: Acl;
}

export type CredentialVerdict =
  | { readonly verdict: 'valid'; readonly credential: AgentCredential }
  | { readonly verdict: 'malformed' | 'unknown' | 'inactive_owner' };

export interface AgentCredentials {
  /** Unknown ids and wrong secrets take the same path and time. */
  authenticate(token: string): Promise<CredentialVerdict>;
  /** The credential as it is now; undefined if its agents must go: it was deleted, or its owner deactivated or made a viewer. */
  find(accountId: string, id: string): Promise<AgentCredential | undefined>;
  /** Deletes every credential of an owner. */
  deleteOwnedBy(transaction: Transaction, accountId: string, ownerId: string): Promise<void>;
}

export const agentCredentials = serviceKey<AgentCredentials>('credentials of agents');
