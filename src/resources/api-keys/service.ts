import type { Authenticator } from '../../api/caller.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/group-commit.ts';
import { serviceKey } from '../services.ts';
import type { KeyUses } from './key-uses.ts';

export interface ApiKeys {
  /** The token is in the answer only; nothing can show it again. */
  create(transaction: Transaction, request: NewApiKey): Promise<{ readonly id: string; readonly token: string }>;
  /** Deletes every key of an owner. */
  deleteOwnedBy(transaction: Transaction, accountId: string, ownerId: string): Promise<void>;
  /** The IP policies that must allow the source of calls with this key; none where it is good from anywhere. */
  policiesOf(queries: Queries, keyId: string): Promise<readonly string[]>;
}

export interface NewApiKey {
  readonly accountId: string;
  readonly ownerId: string;
  readonly description: string;
  /** Chosen by the operator of the machine; generated when undefined. */
  readonly token?: string | undefined;
}

export const apiKeyOwners = serviceKey<ApiKeys>('API keys');
export const keyUses = serviceKey<KeyUses>('uses of API keys');
export const authenticator = serviceKey<Authenticator>('authenticator');
